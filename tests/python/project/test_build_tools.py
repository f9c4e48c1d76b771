"""What the Makefile builds with: the same tools as pip, and a display that hides no error."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(not (ROOT / "tools").exists(), reason="not a clone")


def show(log, program):
    command = [sys.executable, str(ROOT / "tools/show_build.py"), str(log)]
    command += [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_make_builds_with_what_pip_builds_with():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) <= set(project["dependency-groups"]["build"])


def test_steps_are_shown(tmp_path):
    program = """
print("noise")
print("  [1/3] Building CXX object CMakeFiles/graphmount_core.dir/cpp/graphmount/graph/graph.cpp.o")
print("[2/3] Building CXX object CMakeFiles/nb.dir/lib/site-packages/nanobind/src/nb_type.cpp.o")
print("[3/3] Linking CXX shared module _core.so")
"""
    done = show(tmp_path / "log", program)
    assert done.returncode == 0
    *steps, end = done.stdout.splitlines()
    assert steps == [
        "[1/3] cpp/graphmount/graph/graph.cpp",
        "[2/3] nanobind/src/nb_type.cpp",
        "[3/3] Linking CXX shared module _core.so",
    ]
    assert end.startswith("done after")
    assert (tmp_path / "log").read_text().startswith("noise\n")


def test_a_failure_is_shown_with_all_that_follows(tmp_path):
    program = "print('[1/2] a'); print('FAILED: b.o'); print('b.cpp:1: what is wrong'); exit(3)"
    done = show(tmp_path / "log", program)
    assert done.returncode == 3
    assert "FAILED: b.o\nb.cpp:1: what is wrong\nfailed after" in done.stdout


def test_a_failure_of_another_kind_shows_everything(tmp_path):
    done = show(tmp_path / "log", "print('no such option'); exit(2)")
    assert done.returncode == 2
    assert "no such option" in done.stdout
