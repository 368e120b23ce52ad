"""Writes base64_strict.json: what the reference crate's base64_decode gives for mutated inputs.

    python generate_base64.py PATH/TO/_multimodal.cpython-311-x86_64-linux-gnu.so

The module is in the wheel of sglang 0.5.23. Each case is [input, decoded as hex, error text]; one of the last two
is null.
"""

import base64
import importlib.util
import json
import random
import sys
from pathlib import Path

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STRANGERS = ["=", "-", "_", " ", "\n", "\t", "%", "#", "\u00e9", "\u20ac", "\0", ","]


def inputs() -> list[str]:
    random.seed(1)
    texts = {"", "=", "==", "====", "a", "a===", "aH==", "aGVs\n"}
    while len(texts) < 700:
        plain = bytes(random.randrange(256) for _ in range(random.randrange(0, 70)))
        text = list(base64.b64encode(plain).decode())
        for _ in range(random.choice([0, 1, 1, 1, 2])):
            kind = random.randrange(4)
            at = random.randrange(len(text) + 1)
            if kind == 0:
                text.insert(at, random.choice(STRANGERS))
            elif kind == 1 and text:
                del text[min(at, len(text) - 1)]
            elif kind == 2 and text:
                text[min(at, len(text) - 1)] = random.choice(ALPHABET)
            elif kind == 3:
                text = text[:at] if random.random() < 0.5 else [*text, "="]
        texts.add("".join(text))
    return sorted(texts)


def main() -> None:
    spec = importlib.util.spec_from_file_location("_multimodal", sys.argv[1])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = []
    for text in inputs():
        try:
            cases.append([text, module.common.base64_decode(text).hex(), None])
        except ValueError as error:
            cases.append([text, None, str(error).removeprefix("base64 decode error: ")])
    lines = ",\n".join(json.dumps(case) for case in cases)
    (Path(__file__).parent / "base64_strict.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
