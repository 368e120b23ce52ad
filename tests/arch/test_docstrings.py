"""Every public name says what it takes, gives and raises.

A docstring names each argument of its function, or of its class's `__init__`, and says what it raises where there is a
`raise`. Attributes of public classes have a text of their own. What the texts say is for people to judge.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import pytest
from test_python import public_names

from mmcpp import _mmcpp

PUBLIC = [
    (module, name)
    for module, names in public_names().items()
    for name in names
    if getattr(getattr(importlib.import_module(module), name), "__module__", "") == module  # where it is at home
]
SPECIAL = ("__init__", "__call__")


def wanting(function: FunctionType, extra: str = "") -> list[str]:
    """What the docstring of a function, or with it that of its class, does not tell."""
    doc = inspect.getdoc(function) or ""
    if not doc:
        return ["no docstring"]
    text = f"{doc}\n{extra}"
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    names = [a.arg for a in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
    found = [
        f"argument {name}" for name in names if name not in ("self", "cls") and not re.search(rf"\b{name}\b", text)
    ]
    inner = (node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    raises = [node for part in inner for node in ast.walk(part) if isinstance(node, ast.Raise) and node.exc]
    if raises and not re.search("[Rr]aise|Error", text):
        found.append("what it raises")
    return found


def functions(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Public methods of a class, and how it is made."""
    file = sys.modules[cls.__module__].__file__
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        # Not what a dataclass or a protocol makes, nor a function that is an attribute's default.
        own = isinstance(function, FunctionType) and function.__qualname__.endswith(f"{cls.__name__}.{name}")
        if own and function.__code__.co_filename == file and (name in SPECIAL or not name.startswith("_")):
            yield name, function


def silent_attributes(cls: type) -> list[str]:
    """Annotated public attributes that no text follows."""
    if issubclass(cls, Exception):
        return []
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = []
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if not said:
                found.append(node.target.id)
    return found


def gaps(value: Any) -> list[str]:
    if inspect.isclass(value):
        doc = inspect.getdoc(value) or ""
        found = [] if doc else ["no docstring"]
        found += [f"{name}: {gap}" for name, f in functions(value) for gap in wanting(f, doc)]
        return found + [f"attribute {name}" for name in silent_attributes(value) if not re.search(rf"\b{name}\b", doc)]
    return wanting(value) if isinstance(value, FunctionType) else []


@pytest.mark.parametrize("module, name", PUBLIC, ids=lambda value: value)
def test_the_docstring_tells_all(module: str, name: str) -> None:
    assert gaps(getattr(importlib.import_module(module), name)) == []


def test_a_docstring_that_keeps_something_back_is_found() -> None:
    def silent(height: int) -> int:
        """Give it."""
        if height < 0:
            raise ValueError(height)
        return height

    class Silent:
        """A thing."""

        width: int

    assert wanting(silent) == ["argument height", "what it raises"]
    assert silent_attributes(Silent) == ["width"]


def test_the_extension_says_what_its_functions_and_classes_are() -> None:
    """Behind the signature, which pybind11 writes; the rest is in the package's docstrings."""
    found = {name: value for name, value in vars(_mmcpp).items() if not name.startswith("_")}
    parts = {name: (value.__doc__ or "").strip().split("\n\n") for name, value in found.items()}
    assert [name for name, text in parts.items() if len(text) < 2 and not inspect.isclass(found[name])] == []
    assert [name for name, text in parts.items() if text == [""]] == []
    assert len(found) > 25
