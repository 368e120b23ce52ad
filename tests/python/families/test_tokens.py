import json

import pytest

import mmcpp
from checkpoints import write
from mmcpp.config_reader import ConfigReader
from mmcpp.families.tokens import Mark, TokenizerFiles
from mmcpp.spec import load_spec

QWEN = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
LINES = [Mark("\n"), Mark("\n\n")]
DIGITS = [Mark(digit) for digit in "0123456789"]
OVIS = ["<IMG_ATOM>", "<image>", "<IMG_START>", "<IMG_END>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>"]


def added(*texts, first=100, **flags):
    return [{"id": first + i, "content": text, **flags} for i, text in enumerate(texts)]


def byte_level(pattern=None, **vocabulary):
    steps = [{"type": "ByteLevel"}]
    if pattern is not None:
        steps.insert(0, {"type": "Split", "pattern": {"Regex": pattern}})
    tokens = {"Ċ": 10, "ĊĊ": 11, **{str(i): 20 + i for i in range(10)}, **vocabulary}
    return {"model": {"type": "BPE", "vocab": tokens}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}}


def files(**contents):
    return TokenizerFiles(lambda name: ConfigReader(contents.get(name.removesuffix(".json"), {}), name))


def test_each_file_says_what_a_token_is():
    mark = {"image_token_id": Mark("<a>")}
    assert files(tokenizer={"added_tokens": added("<a>")}).ids(mark) == {"image_token_id": 100}
    decoder = {"added_tokens_decoder": {"7": {"content": "<a>"}}}
    assert files(tokenizer_config=decoder).ids(mark) == {"image_token_id": 7}
    assert files(added_tokens={"<a>": 8}).ids(mark) == {"image_token_id": 8}
    assert files(tokenizer={"added_tokens": added("<a>")}, added_tokens={"<a>": 8}).ids(mark)["image_token_id"] == 100
    with pytest.raises(mmcpp.UnsupportedError, match=r"'<a>' is not one token.*write a spec"):
        files().ids(mark)
    # A text of the vocabulary alone may be cut elsewhere.
    with pytest.raises(mmcpp.UnsupportedError, match="'<a>' is not one token"):
        files(tokenizer=byte_level(**{"<": 1, "a": 2, ">": 3})).ids(mark)


@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
def test_tokens_that_change_the_text_beside_them_are_refused(side):
    with pytest.raises(mmcpp.UnsupportedError, match="takes the spaces"):
        files(tokenizer={"added_tokens": added("<a>", **{side: True})}).ids({"image_token_id": Mark("<a>")})


def test_files_may_name_other_texts():
    tokens = {"added_tokens": added("<a>", "<b>", "<c>", "<d>_1")}
    mark = {"image_token_id": Mark("<a>", "image_token")}
    named = {"tokenizer_config": {"image_token": {"content": "<b>"}}, "processor_config": {"image_token": "<c>"}}
    assert files(tokenizer=tokens, **named).ids(mark) == {"image_token_id": 102}
    del named["processor_config"]
    assert files(tokenizer=tokens, **named).ids(mark) == {"image_token_id": 101}
    inner = {"tokenizer_config": {"extra_special_tokens": {"image_token": "<b>"}}}
    assert files(tokenizer=tokens, **inner).ids(mark) == {"image_token_id": 101}
    numbered = {"tile_token_ids": [Mark("<x>", "tile_token", "_1")]}
    assert files(tokenizer=tokens, processor_config={"tile_token": "<d>"}).ids(numbered) == {"tile_token_ids": [103]}


@pytest.mark.parametrize("pattern", [None, QWEN, LLAMA3])
def test_line_breaks_and_digits_of_byte_level_tokenizers(pattern):
    tokenizer = files(tokenizer=byte_level(pattern))
    assert tokenizer.ids({"row": LINES, "id": DIGITS}) == {"row": [10, 11], "id": list(range(20, 30))}


def test_digits_that_may_be_one_token_are_refused():
    pairs = {"10": 40}
    assert files(tokenizer=byte_level(QWEN, **pairs)).ids({"id": DIGITS[:1]}) == {"id": [20]}
    for pattern in (None, LLAMA3):
        with pytest.raises(mmcpp.UnsupportedError, match="'0' is not one token"):
            files(tokenizer=byte_level(pattern, **pairs)).ids({"id": DIGITS})
    single = byte_level(**pairs)
    single["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "Digits", "individual_digits": True})
    assert files(tokenizer=single).ids({"id": DIGITS[:1]}) == {"id": [20]}


def test_line_breaks_of_other_tokenizers_are_refused():
    for tokenizer in (
        {"model": {"type": "Unigram", "vocab": {"Ċ": 10}}, "pre_tokenizer": {"type": "ByteLevel"}},
        {"model": {"type": "BPE", "vocab": {"Ċ": 10}}},
        {**byte_level(), "normalizer": {"type": "Strip"}},
        byte_level(r"\n"),
    ):
        with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
            files(tokenizer=tokenizer).ids({"row": LINES[:1]})
    assert files(tokenizer={**byte_level(), "normalizer": {"type": "NFC"}}).ids({"row": LINES[:1]}) == {"row": [10]}


def test_line_breaks_of_their_own():
    breaks = ["\n" * count for count in (1, 2, 3, 5)]
    assert files(tokenizer={"added_tokens": added(*breaks)}).line_breaks() == {"line_token_ids": [100, 101, 102]}
    for tokenizer in ({"added_tokens": added("\n\n")}, {"added_tokens": added("\n")}, byte_level(QWEN)):
        with pytest.raises(mmcpp.UnsupportedError, match="line breaks are no tokens of their own"):
            files(tokenizer=tokenizer).line_breaks()


def test_places_are_the_largest_square_of_tokens():
    texts = [f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 5)]
    tokenizer = files(tokenizer={"added_tokens": added(*texts)})
    assert tokenizer.places(9) == {
        "row_column_token_ids": [100, 101, 102, 104, 105, 106, 108, 109, 110],
        "mark_columns": 3,
    }
    assert tokenizer.places(1) == {"row_column_token_ids": [100], "mark_columns": 1}
    assert tokenizer.places(2) == {"row_column_token_ids": [100, 101, 104, 105], "mark_columns": 2}
    assert tokenizer.places(0) == {}
    for missing in (texts[1], texts[4], texts[5]):  # of the second row or column
        gap = files(tokenizer={"added_tokens": added(*(text for text in texts if text != missing))})
        assert gap.places(9)["mark_columns"] == 1, missing
    other = files(tokenizer={"added_tokens": added("<1.1>", "<1.2>", "<2.1>", "<2.2>", "<3.1>")})
    assert other.places(9, "<{}.{}>") == {"row_column_token_ids": [100, 101, 102, 103], "mark_columns": 2}
    with pytest.raises(mmcpp.UnsupportedError, match="'<row_1_col_1>' is not one token"):
        files().places(2)


@pytest.mark.parametrize(
    "contents",
    [
        {"tokenizer": {"added_tokens": {}}},
        {"tokenizer": {"added_tokens": [1]}},
        {"tokenizer": {"added_tokens": [{"id": "1", "content": "<a>"}]}},
        {"tokenizer": {"added_tokens": [{"content": "<a>"}]}},
        {"tokenizer": {"added_tokens": [{"id": 1}]}},
        {"tokenizer_config": {"added_tokens_decoder": {"x": {"content": "<a>"}}}},
        {"tokenizer_config": {"added_tokens_decoder": {"1": "<a>"}}},
        {"added_tokens": {"<a>": "1"}},
    ],
)
def test_files_of_another_form_are_refused(contents):
    with pytest.raises(ValueError, match="expected"):
        files(**contents)


def test_a_checkpoint_is_read_with_its_tokenizer(tmp_path):
    write(tmp_path, {"image_processor_type": "Ovis2ImageProcessor"}, {"model_type": "ovis2"})
    with pytest.raises(mmcpp.UnsupportedError, match="'<IMG_ATOM>' is not one token"):
        load_spec(tmp_path, for_prompts=True)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": added(*OVIS)}), encoding="utf-8")
    spec = load_spec(tmp_path, for_prompts=True)
    assert (spec["image_token_id"], spec["placeholder_token_id"], spec["row_token_ids"]) == (100, 101, [106])
    planned = mmcpp.Pipeline.from_pretrained(tmp_path).plan_request(input_ids=[1, 101, 2], sizes=[(300, 300)])
    assert planned.input_ids.tolist() == [1, 102, *[100] * 256, 104, 103, 2]
    (tmp_path / "tokenizer.json").write_text("[", encoding="utf-8")
    assert load_spec(tmp_path)["image_token_id"] == -1  # pictures alone need no tokenizer
    with pytest.raises(ValueError, match=r"tokenizer\.json: no valid JSON"):
        load_spec(tmp_path, for_prompts=True)
