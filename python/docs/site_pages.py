"""Which pages the site has, and their order: a hook of mkdocs.

Pages keep their places in the repository, so that one link holds there and on the site. Pages that no line here names
are found all the same. The reference is made here, of every public module and every public header.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PYTHON, CPP = ROOT / "python/mmcpp", ROOT / "cpp/include/mmcpp"

GUIDES = (
    "quick_start",
    "serve",
    "train",
    "transformers",
    "vllm",
    "sglang",
    "cache",
    "device_normalization",
    "at_scale",
)
FIRST = {
    "Start": ["README.md", "python/docs/quick_start.md"],
    "Guides": [f"python/docs/{name}.md" for name in GUIDES[1:]] + ["cpp/docs/embed.md", "SECURITY.md"],
    "Exactness": [
        "python/docs/exactness.md",
        "cpp/docs/families.md",
        "python/docs/proof.md",
        "cpp/docs/reference_differences.md",
        "cpp/docs/vllm_differences.md",
    ],
    "Design": ["cpp/docs/architecture.md", "third_party/README.md"],
    "Recipes": ["cpp/docs/add_a_family.md", "cpp/docs/add_a_kernel.md", "cpp/examples/server/README.md"],
}


def pages() -> dict[str, list[str]]:
    """Give the sections with their pages, as paths in the repository: those named above that are there, then others."""
    found = {name: [page for page in named if (ROOT / page).exists()] for name, named in FIRST.items()}
    named = {page for section in found.values() for page in section}
    for section, pattern in (
        ("Guides", "python/docs/*.md"),
        ("Decisions", "cpp/docs/adr/*.md"),
        ("Design", "cpp/docs/*.md"),
        ("Project", "*.md"),
    ):
        paths = sorted(ROOT.glob(pattern), key=lambda path: (path.name != "README.md", path.name))
        others = [path.relative_to(ROOT).as_posix() for path in paths]
        found[section] = found.get(section, []) + [page for page in others if page not in named]
    return found


def modules() -> dict[str, str]:
    """Give each module with a name in ``__all__``, and the text of its page in the reference."""
    result = {}
    for path in sorted(PYTHON.rglob("*.py")):
        parts = path.relative_to(PYTHON.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if "._" not in name and not name.startswith("mmcpp.cli") and _public(path):
            result[name] = f"# {name}\n\n::: {name}\n"
    return result


def headers() -> dict[str, str]:
    """Give each public header, and the text of its page: the header, whose comments are the reference."""
    return {path.name: f"# mmcpp/{path.name}\n\n```cpp\n{path.read_text()}```\n" for path in sorted(CPP.glob("*.h"))}


def _public(path: Path) -> bool:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return bool(ast.literal_eval(node.value))
    return False


class Fences(griffe.Extension):
    """Examples and tables of docstrings, which editors and doctest take as they are, as blocks of code."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Fence them."""
        if obj.docstring:
            text = re.sub(r"(?m)(^ *>>> .*\n?(?:^.*\S.*\n?)*)", r"\n```pycon\n\1\n```\n", obj.docstring.value)
            obj.docstring.value = re.sub(r"(?ms)(^=+ .*?^(?:=+ *)+$\n.*?^=[= ]+$)", r"```text\n\1\n```", text)


def on_config(config: Any) -> Any:
    """Lay out the navigation."""
    config.nav = [{section: list(entries)} for section, entries in pages().items()]
    config.nav.append({"Python": [f"reference/{name}.md" for name in modules()]})
    config.nav.append({"C++": [f"reference/{name}.md" for name in headers()]})
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Give the pages and what stands beside them, in place of the one folder that mkdocs looked into."""
    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
    paths = [page for section in pages().values() for page in section]
    paths += [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/docs/*") if path.suffix in {".svg", ".png"}]
    for path in [*paths, "LICENSE"]:
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    for name, text in (modules() | headers()).items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take out why a block is not run, which tests read."""
    return re.sub(r'(?m)^(```\w+) norun=".*"$', r"\1", markdown)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Refuse a block that was not taken for one."""
    if "<p>```" in html:
        raise PluginError(f"{page.file.src_uri}: a block of code that the site does not understand")
    return html
