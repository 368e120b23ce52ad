"""The Python package from outside: what importing it does, what it exports, and which names are public."""

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

import mmcpp

NAMES = Path(__file__).with_name("public_names.json")
EXTENSION = Path(mmcpp._mmcpp.__file__)


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def threads_after(code: str) -> int:
    return int(run(f"{code}\nprint(open('/proc/self/status').read().split('Threads:')[1].split()[0])"))


def test_importing_starts_no_thread() -> None:
    # numpy's BLAS starts threads of its own when it is imported, hence the comparison.
    assert threads_after("import numpy; import mmcpp") == threads_after("import numpy")


def test_work_in_a_thread_is_seen_by_this_count() -> None:
    start = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
    assert threads_after(f"import numpy; {start}") == threads_after("import numpy") + 1


REFUSED = """
import hashlib, os, resource, sys
import numpy as np
import mmcpp
picture = np.arange(1200 * 1200 * 3, dtype=np.uint32).astype(np.uint8).reshape(1200, 1200, 3)
if sys.argv[1] == "refuse":
    if os.getuid() == 0:
        os.setuid(65534)  # no limit holds for root
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
for _ in range(2):
    print(hashlib.sha256(mmcpp.resize(picture, 500, 500)).hexdigest())
"""


def test_threads_that_the_system_refuses_are_done_without() -> None:
    def outcome(how: str) -> str:
        result = subprocess.run(
            [sys.executable, "-c", REFUSED, how], capture_output=True, text=True, check=False, timeout=300
        )
        if "PermissionError" in result.stderr:
            pytest.skip("this process may not give up its rights")
        return result.stdout + result.stderr

    assert outcome("refuse") == outcome("let")


def exported(extension: Path) -> list[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", extension], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in lines.splitlines()]


def test_the_extension_exports_its_entry_alone() -> None:
    assert exported(EXTENSION) == ["PyInit__mmcpp"]


def public_names() -> dict[str, list[str]]:
    found = [mmcpp.__name__, *(m.name for m in pkgutil.walk_packages(mmcpp.__path__, "mmcpp."))]
    modules = [name for name in found if "._" not in name and not name.startswith("mmcpp.cli.")]
    return {name: sorted(getattr(importlib.import_module(name), "__all__", [])) for name in sorted(modules)}


def test_public_names_are_those_that_were_agreed() -> None:
    """A new name is a promise. `python tests/arch/test_python.py` writes the list anew."""
    assert public_names() == json.loads(NAMES.read_text(encoding="utf-8"))


def test_every_public_name_exists_and_is_documented() -> None:
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        assert module.__doc__, module_name
        for name in names:
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", "").startswith("mmcpp"):
                assert value.__doc__, f"{module_name}.{name}"


def test_the_extension_declares_that_it_needs_no_gil() -> None:
    assert "mod_gil_not_used()" in (ROOT / "python/bindings/module.cc").read_text(encoding="utf-8")


def release_sites() -> list[str]:
    files = (ROOT / "python/bindings").glob("*")
    return [file.name for file in sorted(files) if re.search("gil_scoped_release|PyEval_SaveThread", file.read_text())]


def test_the_gil_is_released_in_one_place() -> None:
    assert release_sites() == ["bindings.h"]


def signatures(stub: str) -> dict[str, str]:
    """Each function's parameters with their defaults. Types are left out: ours say more than the generator's,
    whose own depend on the version of pybind11."""
    found = {}
    tree = ast.parse(stub)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", tree.body), *((f"{node.name}.", node.body) for node in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                for argument in node.args.args:
                    argument.annotation = None
                decorators = "".join(f"@{ast.unparse(decorator)} " for decorator in node.decorator_list)
                found[prefix + node.name] = f"{decorators}({ast.unparse(node.args)})"
    return found


STUB = (ROOT / "python/mmcpp/_mmcpp.pyi").read_text(encoding="utf-8")


def test_the_stub_is_that_of_the_extension(tmp_path: Path) -> None:
    pytest.importorskip("pybind11_stubgen", reason="it reads the signatures out of the extension")
    command = [sys.executable, "-m", "pybind11_stubgen", "mmcpp._mmcpp", "-o", tmp_path, "--exit-code"]
    subprocess.run(command, capture_output=True, check=True)
    (made,) = tmp_path.rglob("_mmcpp*.pyi")
    assert signatures(STUB) == signatures(made.read_text(encoding="utf-8"))


def test_a_changed_signature_is_noticed() -> None:
    for old, new in (("width: int", "w: int"), (" = False", " = True"), ("def build_info", "def info")):
        assert signatures(STUB.replace(old, new)) != signatures(STUB)


if __name__ == "__main__":
    NAMES.write_text(json.dumps(public_names(), indent=1) + "\n", encoding="utf-8")
