"""Kernels keep their instructions to themselves: the machine code of the built library, read back.

A function that was compiled for more than the baseline may be reached through a kernel table only. So every
function of a kernel object is local to it, and no other object of ours holds an instruction of AVX or
AVX-512. `./dev test` names the build to look at in MMCPP_BUILD_DIR; without it these tests skip."""

import fnmatch
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

# object -> registers that its instructions may name; every other object: none of these
WIDE = re.compile(r"%[yz]mm|%k[0-7]")  # AVX and AVX-512
AVX512 = re.compile(r"%zmm|%k[0-7]")
VECTOR_MNEMONIC = re.compile(r"\tv[a-z]")  # VEX and EVEX forms of the SSE instructions, on xmm
MAY_HOLD = {
    "kernels_avx2.cc.o": "avx2",
    "kernels_alpha_avx2.cc.o": "avx2",
    "kernels_horizontal_avx2.cc.o": "avx2",
    "kernels_jpeg_avx2.cc.o": "avx2",
    "kernels_jpeg_avx512.cc.o": "avx512",
    "kernels_png_avx2.cc.o": "avx2",
    "kernels_resample_avx2.cc.o": "avx2",
    "kernels_resample_avx512.cc.o": "avx512",
    "kernels_vertical_avx2.cc.o": "avx2",
    "kernels_avx512.cc.o": "avx512",
    "blake3_*": "avx512",
}
# kernels_{png,alpha,jpeg,resample}.h: kernels in files of their own, which the tables of other files name
MAY_SHARE = re.compile(
    r"mmcpp::simd::(PngUnfilter|BlendRgba8|DropRgba8|Jpeg(DecodeMcus|Idct|Rgb(H2v[12])?)|Resample\w+8"
    r"|Pack(ed)?(Horizontal|Vertical)(Bytes)?)(Scalar|Avx2|Avx512)\("
)


def disassembly(archive: Path) -> Iterator[tuple[str, str, str]]:
    """(object, function, instruction) of every instruction in the archive."""
    command = ["objdump", "-d", "--no-show-raw-insn", "--no-addresses", str(archive)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    member = function = ""
    for line in result.stdout.splitlines():
        if match := re.match(r"(\S+):\s+file format", line):
            member = match[1]
        elif match := re.match(r"<(.*)>:$", line):
            function = match[1]
        elif line.startswith("\t"):
            yield member, function, line


def leaked_instructions(archive: Path) -> list[str]:
    found = []
    seen = False
    for member, function, instruction in disassembly(archive):
        seen = True
        level = next((v for k, v in MAY_HOLD.items() if fnmatch.fnmatchcase(member, k)), None)
        if level == "avx512":
            continue
        wide = AVX512 if level == "avx2" else WIDE
        if wide.search(instruction) or (level is None and VECTOR_MNEMONIC.match(instruction)):
            found.append(f"{member} {function}: {instruction.strip()}")
    if not seen:
        raise ValueError(f"objdump showed no instruction of {archive}")
    return found


def shared_functions(archive: Path, members: str) -> list[str]:
    """Functions of kernel objects that the linker lets others call; nm's capital letters."""
    result = subprocess.run(["nm", "-A", "-C", "--defined-only", archive], capture_output=True, text=True, check=True)
    found = []
    for line in result.stdout.splitlines():
        match = re.match(r"(?:.*:)?([^:]*):[0-9a-f ]* ([A-Za-z]) (.*)", line)
        if match and fnmatch.fnmatchcase(match[1], members) and match[2] in "TWVui":
            if match[2] == "T" and MAY_SHARE.match(match[3]):
                continue
            found.append(f"{match[1]} shares {match[3]}")
    return found


@pytest.fixture
def archive() -> Path:
    build = os.environ.get("MMCPP_BUILD_DIR")
    if not build:
        pytest.skip("MMCPP_BUILD_DIR names no build; ./dev test does")
    return Path(build) / "cpp/libmmcpp.a"


x86_only = pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for x86-64's instructions")


@x86_only
def test_no_object_but_its_own_holds_a_kernels_instructions(archive: Path) -> None:
    assert leaked_instructions(archive) == []


def test_kernels_functions_are_reached_through_their_table_only(archive: Path) -> None:
    assert shared_functions(archive, "kernels_*.o") == []


@x86_only
def test_the_kernels_are_there(archive: Path) -> None:
    members = {member for member, _, line in disassembly(archive) if "%ymm" in line or "%zmm" in line}
    assert {"kernels_avx2.cc.o", "kernels_avx512.cc.o"} <= members


@x86_only
@pytest.mark.parametrize(
    ("name", "option"), [("planted", "-mavx2"), ("planted", "-mavx512f"), ("kernels_avx2.cc", "-mavx512f")]
)
def test_planted_instructions_are_found(tmp_path: Path, name: str, option: str) -> None:
    code = "void F(float* a, const float* b) { for (int i = 0; i < 4096; ++i) a[i] += b[i]; }\n"
    planted = plant(tmp_path, name, code, option, "-O3", "-mprefer-vector-width=512")
    assert leaked_instructions(planted)


@x86_only
def test_a_flag_for_the_whole_file_leaks(tmp_path: Path) -> None:
    """What regions are for: with the flag, functions that everybody shares are compiled for AVX."""
    code = "#include <vector>\nvoid F(std::vector<float>* v) { v->resize(7, 1.0f); }\n"
    planted = plant(tmp_path, "kernels_planted", code, "-mavx2", "-O0")
    assert leaked_instructions(planted)
    assert shared_functions(planted, "kernels_*.o")


def test_an_empty_archive_is_an_error(tmp_path: Path) -> None:
    subprocess.run(["ar", "rc", tmp_path / "empty.a"], check=True)
    with pytest.raises(ValueError, match="no instruction"):
        leaked_instructions(tmp_path / "empty.a")


def plant(folder: Path, name: str, code: str, *options: str) -> Path:
    source, member, library = folder / "planted.cc", folder / f"{name}.o", folder / "libplanted.a"
    source.write_text(code)
    subprocess.run(["c++", "-std=c++17", *options, "-c", source, "-o", member], check=True)
    subprocess.run(["ar", "rc", library, member], check=True)
    return library
