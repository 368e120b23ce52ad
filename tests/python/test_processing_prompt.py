"""Where items stand in prompts of every form, and prompts that are refused."""

from typing import Any

import numpy as np
import pytest

from mmcpp.prompt import PlaceholderRange

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch")

from PIL import Image  # noqa: E402

from hf_processors import PROCESSORS  # noqa: E402 - needs transformers
from hf_requests import picture, same_requests  # noqa: E402
from mmcpp.processing import MultiModalProcessor  # noqa: E402


@pytest.fixture(scope="module", params=list(PROCESSORS))
def processor(request: pytest.FixtureRequest) -> Any:
    return PROCESSORS[request.param]()


def test_every_form_of_prompt_gives_the_same(processor: Any) -> None:
    pictures = [picture(i) for i in range(3)]
    token = processor.image_token
    text = f"one {token} two {token}{token} three"  # nothing that joins with line breaks beside it
    wrapper = MultiModalProcessor(processor)
    from_text = wrapper.process(text, {"image": pictures})
    plain = processor.tokenizer(wrapper.media.layout(text))["input_ids"]
    from_ids = wrapper.process(plain, {"image": pictures})
    assert same_requests(from_text, from_ids)
    assert same_requests(from_text, wrapper.process(plain, {"image": pictures}, form="plain"))
    assert same_requests(from_text, wrapper.process(from_text.ids, {"image": pictures}))
    assert same_requests(from_text, wrapper.process(from_text.ids, {"image": pictures}, form="expanded"))


def test_placeholders_are_where_the_items_stand(processor: Any) -> None:
    pictures = [picture(i) for i in range(3)]
    text = processor.image_token.join(["a", " b", " c", " d"])
    request = MultiModalProcessor(processor).process(text, {"image": pictures})
    for where, item in zip(request.placeholders["image"], request.items["image"], strict=True):
        assert request.ids[where.offset : where.end].tolist() == item.ids.tolist()
        assert where == PlaceholderRange(where.offset, len(item.ids), item.is_embed)


def test_items_and_placeholders_must_match(processor: Any) -> None:
    wrapper = MultiModalProcessor(processor)
    token = processor.image_token
    for text, count in (("none", 1), (token, 2), (token * 2, 1), (token, 0)):
        media = {"image": [picture(i) for i in range(count)]}
        with pytest.raises(ValueError, match="image"):
            wrapper.process(text, media)
        with pytest.raises(ValueError, match="image"):
            wrapper.process(processor.tokenizer(text)["input_ids"], media, form="plain")


def test_a_prompt_that_is_expanded_in_part_is_refused() -> None:
    processor = PROCESSORS["qwen2_vl"]()
    wrapper = MultiModalProcessor(processor)
    pictures = [picture(1), picture(2)]
    token = processor.image_token
    ids = wrapper.process(f"a{token}b{token}", {"image": pictures}).ids
    with pytest.raises(ValueError, match="expanded in part, without image item 1"):
        wrapper.process(ids[: len(ids) - 1], {"image": pictures})
    with pytest.raises(ValueError, match=r"2 image item\(s\), 1 of which stand"):
        wrapper.process(ids[: len(ids) - 1], {"image": pictures}, form="expanded")


def test_placeholders_beside_each_other_are_no_item_of_as_many_tokens() -> None:
    processor = PROCESSORS["qwen2_vl"]()
    wrapper = MultiModalProcessor(processor)
    pictures = [Image.new("RGB", (56, 28)), Image.new("RGB", (28, 56)), Image.new("RGB", (56, 28))]  # of two tokens
    ids = wrapper.process(processor.tokenizer(processor.image_token * 3)["input_ids"], {"image": pictures}).ids
    assert [len(item.ids) for item in wrapper.process(None, {"image": pictures}).items["image"]] == [2, 2, 2]
    assert ids.tolist().count(processor.image_token_id) == 6
    with pytest.raises(ValueError, match="expanded in part, without image item 2"):
        wrapper.process(ids[:-2], {"image": pictures})


def test_a_prompt_that_may_mean_both_is_named() -> None:
    processor = PROCESSORS["internvl"]()
    processor.image_seq_length = 1
    wrapper = MultiModalProcessor(processor)
    media = {"image": [Image.new("RGB", (28, 28))]}
    ids = wrapper.process(processor.image_token, media).ids
    with pytest.raises(ValueError, match="plain or expanded, say which"):
        wrapper.process(ids, media)
    assert len(wrapper.process(ids, media, form="expanded").ids) == len(ids)
    assert len(wrapper.process(ids, media, form="plain").ids) == len(ids) + 2


def test_text_of_users_does_not_become_an_image(processor: Any) -> None:
    wrapper = MultiModalProcessor(processor)
    token = processor.image_token
    typed = f"what does {token} mean?"
    with pytest.raises(ValueError, match="stands for image items"):
        wrapper.clean_text(typed, on_placeholder="refuse")
    assert wrapper.clean_text("nothing") == "nothing"
    clean = wrapper.clean_text(typed)
    request = wrapper.process(f"{token}{clean}", {"image": [picture(1)]})
    assert len(request.placeholders["image"]) == 1
    assert len(wrapper.process(clean).placeholders) == 0


def test_surplus_placeholders_may_be_left_as_text() -> None:
    processor = PROCESSORS["llava"]()
    token = processor.image_token
    wrapper = MultiModalProcessor(processor, surplus="allow")
    request = wrapper.process(f"{token} and {token}", {"image": [picture(1)]})
    assert len(request.placeholders["image"]) == 1
    assert int(request.ids[-1]) == processor.image_token_id


def test_a_tokenizer_that_cuts_prompts_off_never_cuts_an_item(processor: Any) -> None:
    wrapper = MultiModalProcessor(processor)
    text, media = f"a{processor.image_token}b", {"image": [Image.new("RGB", (90, 90))]}
    whole = wrapper.process(text, media)
    for length in range(2, len(whole.ids)):
        options = {"text_kwargs": {"truncation": True, "max_length": length}}
        where = whole.placeholders["image"][0]
        last = where.offset + int(
            np.flatnonzero(where.is_embed)[-1] if where.is_embed is not None else where.length - 1
        )
        if length <= last:
            with pytest.raises(ValueError, match=r"cuts prompts off|no token lies"):
                wrapper.process(text, media, options=options)
        else:
            assert len(wrapper.process(text, media, options=options).placeholders["image"]) == 1


def test_the_token_that_receives_embeddings_is_the_processor_s(processor: Any) -> None:
    """And no padding token, nor one that a configuration of another model names."""
    wrapper = MultiModalProcessor(processor)
    request = wrapper.process(processor.image_token, {"image": [picture(1)]})
    [where] = request.placeholders["image"]
    inside = request.ids[where.offset : where.end]
    embedded = set(inside.tolist() if where.is_embed is None else inside[where.is_embed].tolist())
    assert len(embedded) == 1
    assert embedded != {processor.tokenizer.pad_token_id}
    assert embedded <= set(processor.tokenizer.get_vocab().values())
