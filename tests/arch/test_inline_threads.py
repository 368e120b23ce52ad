"""The inline build starts no thread, seen from outside: a preloaded pthread_create tells of every call."""

import os
import subprocess
from pathlib import Path

import pytest

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
int pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*start)(void*), void* arg) {
  static const char kText[] = "pthread_create called\n";
  if (write(2, kText, sizeof kText - 1) < 0) return 11;
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attr, start, arg);
}
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = ["cc", "-shared", "-fPIC", folder / "shim.c", "-o", folder / "shim.so", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def starts_threads(executor: str, shim: Path) -> bool:
    build = os.environ.get("MMCPP_BUILD_DIR")
    if not build:
        pytest.skip("MMCPP_BUILD_DIR names no build; ./dev test does")
    # The seam and the driver, without the tests that call from threads of their own.
    filters = "--gtest_filter=Par.*:Driver*-*Thread*"
    result = subprocess.run(
        [f"{build}/tests/mmcpp_tests_{executor}", filters],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LD_PRELOAD": str(shim)},
    )
    assert "Par.RangesCoverEachIndexOnce" in result.stdout
    return "pthread_create called" in result.stderr


def test_the_inline_build_starts_no_thread(shim: Path) -> None:
    assert not starts_threads("inline", shim)


def test_a_thread_would_be_seen(shim: Path) -> None:
    assert starts_threads("chaos", shim)
