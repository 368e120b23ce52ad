"""Identity: what must differ differs, what must be one is one, and what has no content is refused."""

import dataclasses
import io
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.identity import ItemScope, check_uuids, hash_value, name_uncached, parse_uuids

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_identity_cases.json").read_text())


def all_differ(values: Any) -> None:
    digests = [hash_value(value) for value in values]
    for (a, x), (b, y) in itertools.combinations(zip(digests, values, strict=True), 2):
        assert a != b, (x, y)


def test_types_are_told_apart() -> None:
    all_differ([None, True, False, 0, 1, 0.0, 1.0, -0.0, "", "1", b"", b"1", [], {}, [1], ["1"], [[1]], {"1": 1}])
    all_differ([255, -1, 2**63, 2**64, 2**200, -(2**63), -(2**200)])
    all_differ([["ab", "c"], ["a", "bc"], ["abc"], [["ab"], "c"], {"ab": "c"}, {"a": "bc"}])
    all_differ([{1: 2}, {"1": 2}, {1.0: 2}, {True: 2}, {None: 2}, {(1,): 2}])
    all_differ([{"fps": [2, 4]}, {"fps": {"0": 2, "1": 4}}, {"size": {"a": 1}}, {"size.a": 1}])


def test_equal_values_are_one() -> None:
    assert hash_value({"a": 1, "b": {"c": 2, "d": 3}}) == hash_value({"b": {"d": 3, "c": 2}, "a": 1})
    assert hash_value([1, 2]) == hash_value((1, 2))
    assert hash_value(b"xy") == hash_value(bytearray(b"xy")) == hash_value(memoryview(b"xy"))
    assert hash_value(b"ac") == hash_value(memoryview(b"abc")[::2])
    assert hash_value(np.int16(3)) == hash_value(3)
    assert hash_value(np.float32(0.5)) == hash_value(0.5)
    assert hash_value(np.bool_(True)) == hash_value(True)


LEAVES: list[Any] = [None, True, False, 0, 1, -1, 2**70, 0.0, -0.0, 1.0, "", "0", "a", b"", b"0", b"a"]


def random_tree(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if depth > 3 or kind < 0.5:
        return rng.choice(LEAVES)
    children = [random_tree(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return children if kind < 0.75 else {rng.choice("abc"): child for child in children}


def typed(value: Any) -> Any:
    """Make equality as strict as the digests: by type, and with -0.0 apart."""
    if isinstance(value, list):
        return ("list", tuple(typed(element) for element in value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, typed(element)) for key, element in value.items()))
    return (type(value).__name__, repr(value))


def test_digests_are_equal_exactly_where_values_are() -> None:
    rng = random.Random(1)
    seen: dict[str, Any] = {}
    for _ in range(20_000):
        value = random_tree(rng)
        known = seen.setdefault(hash_value(value), typed(value))
        assert known == typed(value), "two values of one digest"
    assert len(set(seen.values())) == len(seen), "one value of two digests"


def test_arrays_are_their_content() -> None:
    base = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    all_differ(
        [
            base,
            base.reshape(3, 2, 4),
            base.reshape(24),
            base.astype(np.int64),
            base.astype(np.uint32),
            base.astype(np.float32),
            base.astype(">i4"),
            base.tolist(),
            base.tobytes(),
            np.zeros((0, 3)),
            np.zeros((3, 0)),
            np.array(1),
            1,
        ]
    )
    turned = base.transpose(2, 0, 1)
    assert hash_value(turned) == hash_value(np.ascontiguousarray(turned))
    assert hash_value(base[:, ::-1]) == hash_value(base[:, ::-1].copy())


def test_tensors_are_their_content() -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    all_differ(
        [
            base,
            base.numpy(),
            base.T,
            base.to(torch.bfloat16),
            base.to(torch.float16),
            base.to(torch.bfloat16).view(torch.int16),
            torch.zeros(0),
            torch.zeros(()),
            torch.float32,
            "torch.float32",
        ]
    )
    assert hash_value(base.T) == hash_value(base.T.contiguous())
    assert hash_value(base.clone().requires_grad_()) == hash_value(base)
    with pytest.raises(TypeError, match="sparse"):
        hash_value(base.to_sparse())


def test_pictures_are_all_that_is_seen() -> None:
    pil = pytest.importorskip("PIL.Image")
    data = bytes(range(256)) * 53  # 30 * 150 * 3 bytes and more
    wide, tall = (pil.frombytes("RGB", size, data[: 30 * 150 * 3]) for size in ((150, 30), (30, 150)))
    gray = pil.frombytes("L", (16, 16), data[:256])
    indexed = pil.frombytes("P", (16, 16), data[:256])
    other_palette = indexed.copy()
    indexed.putpalette([1, 2, 3] * 256)
    other_palette.putpalette([3, 2, 1] * 256)
    transparent, half = indexed.copy(), indexed.copy()
    transparent.info["transparency"] = 0
    half.info["transparency"] = b"\x80" * 256
    turned = wide.copy()
    turned.getexif()[0x0112] = 6
    bgr = pil.fromarray(np.asarray(wide)[..., ::-1])
    all_differ([wide, tall, gray, indexed, other_palette, transparent, half, turned, bgr, np.asarray(wide)])
    assert hash_value(wide) == hash_value(wide.copy())


def test_a_picture_from_a_file_is_the_same_before_and_after_it_was_loaded() -> None:
    pil = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pil.new("RGB", (9, 7), (1, 2, 3)).quantize(4).save(file, "PNG")
    fresh, loaded = (pil.open(io.BytesIO(file.getvalue())) for _ in range(2))
    loaded.load()
    assert hash_value(fresh) == hash_value(loaded)


def test_dataclasses_are_named() -> None:
    @dataclasses.dataclass
    class A:
        x: int

    @dataclasses.dataclass
    class B:
        x: int

    all_differ([A(1), A(2), B(1), {"x": 1}])


def test_what_has_no_content_is_refused() -> None:
    for value in (object(), Path("a.png"), {1, 2}, np.array([None]), int, lambda: 0, 1j):
        with pytest.raises(TypeError, match="hashing: "):
            hash_value(value)
    nested: Any = []
    for _ in range(70):
        nested = [nested]
    with pytest.raises(ValueError, match="deeper than 64"):
        hash_value(nested)
    endless: Any = []
    endless.append(endless)
    with pytest.raises(ValueError, match="deeper than 64"):
        hash_value(endless)


def test_keys_depend_on_everything_that_changes_the_output() -> None:
    base = ItemScope("qwen2_vl", {"patch": 14}, "bfloat16", "hf", {"max_pixels": 100}, "tenant")
    scopes = [
        base,
        dataclasses.replace(base, family="other"),
        dataclasses.replace(base, spec={"patch": 16}),
        dataclasses.replace(base, dtype="float32"),
        dataclasses.replace(base, profile="vllm"),
        dataclasses.replace(base, options={"max_pixels": 101}),
        dataclasses.replace(base, tenant=""),
    ]
    keys = [key for s in scopes for key in (s.key(b"x"), s.key(b"y"), s.uuid_key("x"), s.key("x"))]
    keys += [base.key(b"x", modality="video"), base.uuid_key("x", modality="video"), base.uuid_key("")]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)
    again = ItemScope("qwen2_vl", {"patch": 14}, "bfloat16", "hf", {"max_pixels": 100}, "tenant")
    assert again.key(b"x") == base.key(b"x")


def test_many_pictures_have_as_many_keys() -> None:
    scope = ItemScope("f")
    assert len({scope.key(i.to_bytes(4, "little")) for i in range(5000)}) == 5000


def test_uuids_are_parsed_as_by_the_reference() -> None:
    for fact in CASES["uuids_parsed"]:
        assert parse_uuids(fact["given"]) == fact["parsed"]


def items(text: Any) -> Any:
    return [object()] * int(text.split()[0]) if isinstance(text, str) else text


def test_uuids_are_checked_as_by_the_reference() -> None:
    for fact in CASES["uuids_checked"]:
        data = {modality: items(given) for modality, given in fact["data"].items()}
        uuids = parse_uuids(fact["uuids"])
        if fact.get("refused"):
            with pytest.raises(ValueError, match="uuids: "):
                check_uuids(data, uuids)
        else:
            check_uuids(data, uuids)
            assert uuids == fact["kept"]


def test_items_that_nothing_caches_are_named_as_by_the_reference() -> None:
    for fact in CASES["uuids_uncached"]:
        counts = {modality: len(items(given)) for modality, given in fact["data"].items()}
        assert name_uncached(fact["request"], counts, parse_uuids(fact["uuids"])) == fact["names"]
