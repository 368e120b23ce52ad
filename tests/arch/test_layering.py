"""Who may include whom. The tables are the architecture; a file that needs more changes them in review."""

import fnmatch
import re
from pathlib import Path

import pytest
from source_tree import ROOT, cpp_files, includes, strip_comments

# layer -> layers it may include besides itself; siblings do not see each other
MAY = {
    "base": "",
    "simd": "base",
    "par": "base",
    "codec": "base simd",
    "hash": "base",
    "prompt": "base",
    "resample": "base simd par",
    "transforms": "base simd par",
    "families": "base resample transforms prompt",
    "cache": "base hash",
    "driver": "base par codec hash prompt families",
    "fetch": "base",
}

# header of another project -> the only files that may include it
THIRD_PARTY = {
    "jpeglib.h": "cpp/src/codec/*.cc",
    "jerror.h": "cpp/src/codec/*.cc",
    "webp/*": "cpp/src/codec/*.cc",
    "libdeflate.h": "cpp/src/codec/*.cc",
    "zlib.h": "cpp/src/codec/*.cc",
    "blake3.h": "cpp/src/hash/*",
    "nlohmann/*": "cpp/src/families/*",
    "curl/*": "cpp/src/fetch/*",
    "oneapi/*": "cpp/src/par/par_tbb.cc",
    "*intrin.h": "cpp/src/simd/kernels_*.cc",
    "arm_neon.h": "cpp/src/simd/kernels_*.cc",
    "pybind11/*": "python/bindings/*",
}

# programs around the library: users of it, with headers of their own
EXAMPLES = "cpp/examples/"
EXAMPLES_INCLUDE = {"httplib.h", "malloc.h", "nlohmann/json.hpp", "signal.h"}

# C and POSIX headers with a dot; the C++ ones have none
SYSTEM = {
    "stddef.h",
    "stdint.h",
    "string.h",
    "pthread.h",
    "sched.h",
    "unistd.h",
    "sys/*",
    "arpa/inet.h",
    "dlfcn.h",
    "fcntl.h",
    "netdb.h",
    "netinet/in.h",
}

# A kernel file is compiled for one instruction set: an inline function of a C++ header would be
# emitted for that set and could be the copy that the linker keeps for everybody.
KERNEL_INCLUDES = {"<stddef.h>", "<stdint.h>", "<string.h>", "<*intrin.h>", "<arm_neon.h>", '"simd/*.h"'}


def matches(name: str, patterns: "set[str] | str") -> bool:
    return any(fnmatch.fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))


def project_include_allowed(file: str, target: str) -> bool:
    """Whether `file` may have #include "target"."""
    layer = target.split("/", maxsplit=1)[0]
    if layer == "mmcpp":
        return True
    if file.startswith(("python/bindings/", EXAMPLES)):
        return "/" not in target  # its own folder; nothing of cpp/src
    parts = file.split("/")
    if parts[:2] != ["cpp", "src"] or "/" not in target:
        return False  # a public header names public headers only; sources name their folder
    return layer == parts[2] or layer in MAY.get(parts[2], "").split()


def system_include_allowed(file: str, target: str) -> bool:
    if file.startswith(EXAMPLES) and target in EXAMPLES_INCLUDE:
        return True
    for pattern, users in THIRD_PARTY.items():
        if fnmatch.fnmatch(target, pattern):
            return fnmatch.fnmatch(file, users)
    return ("." not in target and "/" not in target) or matches(target, SYSTEM)


def violations(root: Path) -> list[str]:
    found = []
    for path in cpp_files(root / "cpp") + cpp_files(root / "python"):
        file = path.relative_to(root).as_posix()
        code = path.read_text()
        for include in includes(code):
            target = include[1:-1]
            allowed = project_include_allowed if include[0] == '"' else system_include_allowed
            if not allowed(file, target):
                found.append(f"{file} includes {include}")
            if fnmatch.fnmatch(file, "cpp/src/simd/kernels_*.cc") and not matches(include, KERNEL_INCLUDES):
                found.append(f"{file} is compiled per instruction set and includes {include}")
        if file != "cpp/src/par/par_tbb.cc" and re.search(r"\btbb::", strip_comments(code)):
            found.append(f"{file} names TBB")
    return found


def test_every_layer_is_known() -> None:
    folders = {path.name for path in (ROOT / "cpp/src").iterdir() if path.is_dir()}
    assert folders <= set(MAY), "a new folder needs its row in MAY"


def test_no_file_includes_what_it_may_not() -> None:
    assert len(cpp_files(ROOT / "cpp")) > 20  # the walk found the tree
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cpp/src/base/a.h", '#include "codec/decode.h"'),
        ("cpp/src/codec/a.cc", '#include "hash/content_hash.h"'),
        ("cpp/src/resample/a.cc", '#include "transforms/normalize.h"'),
        ("cpp/src/families/a.cc", '#include "codec/decode.h"'),
        ("cpp/src/families/a.cc", '  #  include "driver/limits.h" // comment'),
        ("cpp/src/fetch/a.cc", '#include "driver/limits.h"'),
        ("cpp/src/driver/a.cc", '#include "fetch/policy.h"'),
        ("cpp/src/driver/a.cc", "#include <curl/curl.h>"),
        ("cpp/src/base/a.cc", '#include "half.h"'),
        ("cpp/src/base/a.cc", '#include "../codec/decode.h"'),
        ("cpp/src/driver/a.cc", "#include <zlib.h>"),
        ("cpp/src/codec/a.h", "#include <jpeglib.h>"),
        ("cpp/src/codec/a.cc", "#include <immintrin.h>"),
        ("cpp/src/simd/kernels_avx2.cc", "#include <algorithm>"),
        ("cpp/src/simd/kernels_avx2.cc", '#include "base/half.h"'),
        ("cpp/src/par/par_inline.cc", "#include <oneapi/tbb/task_arena.h>"),
        ("cpp/src/driver/a.cc", "oneapi::tbb::task_arena arena;"),
        ("cpp/src/base/a.cc", "#include <unheard_of.h>"),
        ("cpp/include/mmcpp/a.h", '#include "base/half.h"'),
        ("cpp/include/mmcpp/a.h", "#include <nlohmann/json.hpp>"),
        ("python/bindings/a.cc", '#include "base/half.h"'),
        ("python/bindings/a.cc", '#include "codec/decode.h"'),
        ("cpp/examples/a/a.cc", '#include "driver/item.h"'),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, line: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(line + "\n")
    assert violations(tmp_path)


def test_comments_and_allowed_includes_are_no_violation(tmp_path: Path) -> None:
    path = tmp_path / "cpp/src/families/a.cc"
    path.parent.mkdir(parents=True)
    path.write_text(
        '// #include "codec/decode.h"\n/* #include <png.h>\n tbb::x */\n'
        '#include "base/half.h"\n#include "mmcpp/family.h"\n#include <nlohmann/json.hpp>\n#include <vector>\n'
    )
    assert violations(tmp_path) == []
