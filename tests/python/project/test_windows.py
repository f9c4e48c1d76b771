"""The Windows implementation of the mapping compiles, where there is a compiler for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_mapping_compiles_for_windows(tmp_path):
    compiler = shutil.which("x86_64-w64-mingw32-g++")
    if compiler is None:
        pytest.skip("no x86_64-w64-mingw32-g++ (Debian: g++-mingw-w64-x86-64)")
    subprocess.run(
        [
            compiler,
            *("-std=c++20", "-Wall", "-Wextra", "-Werror", "-D_WIN32_WINNT=0x0A00"),
            *("-I", ROOT / "cpp"),
            *("-c", ROOT / "cpp/graphmount/system/mapping/mapped_file_windows.cpp"),
            *("-o", tmp_path / "mapped_file_windows.o"),
        ],
        check=True,
    )
    assert (tmp_path / "mapped_file_windows.o").stat().st_size > 0
