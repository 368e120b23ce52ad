"""``python -m mmcpp``: the command ``mmcpp``."""

import sys

from mmcpp.cli import main

sys.exit(main())
