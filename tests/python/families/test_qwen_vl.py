import numpy as np
import pytest

import mmcpp
from mmcpp.families import qwen_vl
from mmcpp.spec import preset_spec
from samples import smooth


@pytest.mark.parametrize("preset", qwen_vl.PRESETS)
def test_seen_image_undoes_the_patches(preset):
    processor = mmcpp.ImageProcessor.from_spec(preset_spec(preset, backend="pil"))
    picture = smooth(300, 470)
    plan = processor.plan(300, 470)
    batch = processor.process_items(picture, dtype="uint8")
    seen = qwen_vl.seen_image(processor.spec, plan.grid, batch.features)
    np.testing.assert_array_equal(seen, mmcpp.resize(picture, plan.resized_height, plan.resized_width))


def test_presets_are_complete():
    assert set(qwen_vl.PRESETS) == {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5"}
    assert set(qwen_vl.PRESETS) <= set(qwen_vl.MODEL_TYPES)
    for name, spec in qwen_vl.PRESETS.items():
        assert spec.image_token_id == qwen_vl.MODEL_TYPES[name]
