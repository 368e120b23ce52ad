"""Memory that a process holds while it works, and gives back. The core's own count of allocations is in
tests/cpp/driver/memory_test.cc; here a process is looked at from outside."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mmcpp
from samples import SPEC

# Pictures of any size, on eight threads; the process's resident bytes after each fifth of them, and in the end
# without those that wait.
SOAK = """
import concurrent.futures, io, json, os, random, sys
import numpy as np
from PIL import Image
import mmcpp

processor = mmcpp.ImageProcessor.from_spec(json.loads(sys.argv[1]))
generator = random.Random(3)
files = []
for kind in ("JPEG", "PNG", "WEBP") * 4:
    file = io.BytesIO()
    pixels = np.random.default_rng(len(files)).integers(0, 256, (generator.randint(8, 90), generator.randint(8, 90), 3))
    picture = Image.fromarray(pixels.astype(np.uint8))
    picture.resize((generator.randint(60, 1800), generator.randint(60, 1400))).save(file, kind)
    files.append(file.getvalue())

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

samples = []
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for _ in range(5):
        for _ in pool.map(processor, [generator.choice(files) for _ in range(100)]):
            pass
        samples.append(resident())
freed = mmcpp.free_waiting_buffers()
print(json.dumps([samples, freed, resident(), mmcpp.free_waiting_buffers()]))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_what_is_held_does_not_grow_and_can_be_given_back():
    run = subprocess.run([sys.executable, "-c", SOAK, json.dumps(SPEC)], capture_output=True, text=True, check=True)
    samples, freed, resident, rest = json.loads(run.stdout)
    assert max(samples[3:]) < 1.5 * max(samples[:2])
    assert freed > 16 << 20
    assert resident < samples[-1] - freed // 2
    assert rest == 0


def test_waiting_buffers_are_freed_once():
    picture = mmcpp.resize(np.zeros((8, 8, 3), np.uint8), 1400, 1400)  # 5.9 MB
    del picture
    assert mmcpp.free_waiting_buffers() >= 1400 * 1400 * 3
    assert mmcpp.free_waiting_buffers() == 0
