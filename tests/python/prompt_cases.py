"""What the tests of prompts share: vLLM's facts, updates written as triples, a tokenizer of words."""

import json
from pathlib import Path
from typing import Any

from mmcpp.prompt import END, START, BoundUpdate, BoundUpdates, Content, prefix

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_prompt_cases.json").read_text())
Json = Any


def target_of(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return {"start": START, "end": END}.get(value["at"]) or prefix(value["of"])


def bound(updates: Json, tokenizer: Json = None) -> BoundUpdates:
    return BoundUpdates(
        {
            modality: [
                [BoundUpdate(mode, target_of(target), Content(content)) for mode, target, content in alternatives]
                for alternatives in items
            ]
            for modality, items in updates.items()
        },
        tokenizer=tokenizer,
    )


class Words:
    """A tokenizer of whole words from a table, longest first; anything else by character."""

    def __init__(self, words: dict[str, list[int]]) -> None:
        self.words = dict(sorted(words.items(), key=lambda word: -len(word[0])))
        self.encoded: list[str] = []

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        self.encoded.append(text)
        ids = [0] if add_special_tokens else []
        at = 0
        while at < len(text):
            word = next((w for w in self.words if text.startswith(w, at)), None)
            ids += self.words[word] if word else [ord(text[at])]
            at += len(word) if word else 1
        return ids

    def decode(self, token_ids: list[int]) -> str:
        text = ""
        at = 0
        while at < len(token_ids):
            word = next((w for w, ids in self.words.items() if token_ids[at : at + len(ids)] == ids), None)
            text += word if word else chr(token_ids[at])
            at += len(self.words[word]) if word else 1
        return text
