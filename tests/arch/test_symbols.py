"""What the built library does not call and does not show, read from its symbols.

`./dev test` names the build to look at in MMCPP_BUILD_DIR; without it these tests skip."""

import fnmatch
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

# what no code of the library may call, and why
FORBIDDEN = {
    "prints": "*printf_chk printf fprintf vfprintf vprintf dprintf puts fputs putchar fputc fwrite perror write "
    "std::cout std::cerr std::clog syslog",
    "ends the process": "abort exit _exit _Exit quick_exit std::terminate* __assert_fail raise kill signal sigaction",
    "opens files": "fopen fopen64 open open64 openat freopen mmap std::basic_*fstream* std::basic_filebuf* "
    "std::filesystem*",
    "uses the network": "socket connect getaddrinfo gethostbyname curl_*",
    "starts threads": "pthread_create std::thread::* fork vfork posix_spawn system popen",
}
ALLOWED = {"__snprintf_chk", "__vsnprintf_chk", "__sprintf_chk"}  # into a buffer

# environment is read once, where these decide about it
MAY_READ_ENVIRONMENT = {"dispatch.cc.o", "par_tbb.cc.o"}

# memory of no file; nothing in the library opens one
MAY_MAP = {"block_pool.cc.o"}


def nm(file: Path, *options: str) -> Iterator[tuple[str, str, str]]:
    """(object, type, demangled name) of each symbol; raises if nm fails or finds nothing."""
    command = ["nm", "-A", "-C", *options, str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = False
    for line in result.stdout.splitlines():
        match = re.match(r"(?:.*:)?([^:]*):[0-9a-f ]* ([A-Za-z]) (.*)", line)
        if match:
            found = True
            yield match[1], match[2], match[3].split("@")[0]
    if not found:
        raise ValueError(f"nm showed no symbol of {file}")


def forbidden_calls(archive: Path) -> list[str]:
    found = []
    for member, kind, name in nm(archive):
        if kind != "U" or name in ALLOWED or (name == "mmap" and member in MAY_MAP):
            continue
        for reason, patterns in FORBIDDEN.items():
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split()):
                found.append(f"{member} {reason}: {name}")
        if name in ("getenv", "secure_getenv") and member not in MAY_READ_ENVIRONMENT:
            found.append(f"{member} reads the environment")
    return found


def shared_definitions(archive: Path, members: str) -> list[str]:
    """Definitions that the linker may replace by, or use for, those of other objects."""
    return [
        f"{member} defines {name} for everybody"
        for member, kind, name in nm(archive, "--defined-only")
        if fnmatch.fnmatchcase(member, members) and kind in "WVu"
    ]


@pytest.fixture
def archive() -> Path:
    build = os.environ.get("MMCPP_BUILD_DIR")
    if not build:
        pytest.skip("MMCPP_BUILD_DIR names no build; ./dev test does")
    return Path(build) / "cpp/libmmcpp.a"


def test_the_library_calls_nothing_it_must_not(archive: Path) -> None:
    assert forbidden_calls(archive) == []


def test_kernels_define_nothing_that_is_shared(archive: Path) -> None:
    assert shared_definitions(archive, "kernels_*.o") == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('std::printf("%p", p);', "prints"),
        ("std::cout << 1;", "prints"),
        ("std::abort();", "ends the process"),
        ("std::exit(1);", "ends the process"),
        ("std::ifstream file(n);", "opens files"),
        ("std::fopen(n, n);", "opens files"),
        ("p = mmap(p, 1, PROT_READ, MAP_PRIVATE, 3, 0);", "opens files"),
        ("std::thread([] {}).join();", "starts threads"),
        ("std::getenv(n);", "reads the environment"),
    ],
)
def test_a_planted_call_is_found(tmp_path: Path, body: str, reason: str) -> None:
    planted = plant(
        tmp_path,
        "#include <cstdio>\n#include <cstdlib>\n#include <fstream>\n#include <iostream>\n"
        "#include <sys/mman.h>\n#include <thread>\n"
        "void F(const char* n, void* p) { " + body + " (void)n; (void)p; }\n",
    )
    assert any(reason in found for found in forbidden_calls(planted))


def test_a_planted_shared_definition_is_found(tmp_path: Path) -> None:
    planted = plant(tmp_path, "#include <vector>\nvoid F(std::vector<int>* v) { v->resize(7); }\n")
    assert shared_definitions(planted, "kernels_*.o")


def test_a_missing_or_empty_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        list(nm(tmp_path / "absent.a"))
    subprocess.run(["ar", "rc", tmp_path / "empty.a"], check=True)
    with pytest.raises(ValueError, match="no symbol"):
        list(nm(tmp_path / "empty.a"))


def plant(folder: Path, code: str) -> Path:
    source, library = folder / "kernels_planted.cc", folder / "libplanted.a"
    source.write_text(code)
    member = folder / "kernels_planted.cc.o"
    subprocess.run(["c++", "-std=c++17", "-O0", "-c", source, "-o", member], check=True)
    subprocess.run(["ar", "rc", library, member], check=True)
    return library
