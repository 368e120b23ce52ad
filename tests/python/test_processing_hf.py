"""The media half of a processor, on one of a few lines: what it is asked, and what is refused."""

from typing import Any

import numpy as np
import pytest

from mmcpp.fields import flat, flat_from_sizes
from mmcpp.processing_hf import RULES, HfMedia, ProcessorRules, rules_for


class Bytes:
    """A tokenizer of code points, to which ``<`` is the token that receives embeddings."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [ord(character) for character in text]


class Repeater:
    """A processor that makes ``[<<<]`` of a picture ``<`` of three rows."""

    image_token = "<"
    image_token_id = ord("<")
    tokenizer = Bytes()

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.replacements = "[{}]"

    def __call__(self, **arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        rows = [len(picture) for picture in arguments["images"]]
        texts = [self.replacements.format("<" * n) for n in rows]
        return {
            "input_ids": [[0]],
            "pixel_values": np.concatenate(arguments["images"]),
            "sizes": rows,
            "text_replacement_offsets": [[{"replacement": text} for text in texts]],
        }


def rows(count: int, value: float) -> Any:
    return np.full((count, 2), value, np.float32)


SPLIT = ProcessorRules(
    split=lambda outputs, modality: {
        "pixel_values": flat_from_sizes(modality, outputs["sizes"]),
        "sizes": flat_from_sizes(modality, [1] * len(outputs["sizes"])),
    }
)


@pytest.mark.parametrize("rules", [ProcessorRules(), SPLIT], ids=["one by one", "together"])
def test_items_are_their_tensors_and_what_stands_for_them(rules: ProcessorRules) -> None:
    processor = Repeater()
    items = HfMedia(processor, rules).process("image", [rows(1, 5), rows(3, 7)], {"size": 4})
    assert [item.text for item in items] == ["[<]", "[<<<]"]
    assert items[1].ids.tolist() == [ord(character) for character in "[<<<]"]
    assert items[1].is_embed is not None
    assert items[1].is_embed.tolist() == [False, True, True, True, False]
    assert [item.tensors.data["sizes"].tolist() for item in items] == [[1], [3]]
    assert (items[1].tensors.data["pixel_values"] == rows(3, 7)).all()
    assert "input_ids" not in items[0].tensors.data
    assert all(kind == flat("image") for item in items for kind in item.tensors.fields.values())
    assert len(processor.calls) == (1 if rules is SPLIT else 2)
    assert all(call["size"] == 4 and not call["add_special_tokens"] for call in processor.calls)
    assert processor.calls[0]["text"] == ["<<" if rules is SPLIT else "<"]


def test_options_of_texts_are_not_for_media() -> None:
    processor = Repeater()
    HfMedia(processor).process("image", [rows(1, 0)], {"text_kwargs": {"a": 1}, "images_kwargs": {"b": 2}})
    assert "text_kwargs" not in processor.calls[0]
    assert processor.calls[0]["images_kwargs"] == {"b": 2}


def test_all_tokens_may_receive_embeddings() -> None:
    processor = Repeater()
    processor.replacements = "{}"
    [item] = HfMedia(processor).process("image", [rows(2, 0)], {})
    assert item.is_embed is None


def test_a_processor_that_does_not_say_what_it_replaced_leaves_placeholders() -> None:
    class Silent(Repeater):
        def __call__(self, **arguments: Any) -> dict[str, Any]:
            outputs = super().__call__(**arguments)
            del outputs["text_replacement_offsets"]
            return outputs

    [item] = HfMedia(Silent()).process("image", [rows(2, 0)], {})
    assert item.text == "<"


def test_failures_are_named() -> None:
    processor = Repeater()
    media = HfMedia(processor)
    with pytest.raises(ValueError, match="Repeater takes image, not video"):
        media.placeholder("video")
    with pytest.raises(ValueError, match="not text"):
        media.placeholder("text")
    with pytest.raises(ValueError, match=r"Repeater fails on 1 image item\(s\): object of type 'int'"):
        media.process("image", [5], {})
    processor.replacements = "nothing"
    with pytest.raises(ValueError, match="token 60 receives embeddings but is not in"):
        media.process("image", [rows(1, 0)], {})


def test_outputs_of_another_number_of_items_are_refused() -> None:
    merged = ProcessorRules(split=lambda outputs, modality: {"pixel_values": flat_from_sizes(modality, [4])})
    with pytest.raises(ValueError, match=r"outputs of 1 items for 2 image item\(s\)"):
        HfMedia(Repeater(), merged).process("image", [rows(1, 0), rows(3, 0)], {})


def test_rules_go_by_the_class_and_its_bases() -> None:
    llava = type("LlavaProcessor", (Repeater,), {})
    assert rules_for(llava()) is RULES["LlavaProcessor"]
    assert rules_for(type("Mine", (llava,), {})()) is RULES["LlavaProcessor"]
    assert rules_for(Repeater()).dim == 0
