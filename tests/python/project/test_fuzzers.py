"""The fuzzers of readers in Python run; what they find at length, `make fuzz` shows."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

FUZZ = pathlib.Path(__file__).parents[3] / "fuzz"


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize("name", ["dataset"])
def test_nothing_fails_in_a_moment(name, tmp_path, campaign):
    done = subprocess.run(
        [sys.executable, FUZZ / f"fuzz_{name}.py", "--seconds", str(campaign(1, 60))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "nothing else" in done.stdout


@pytest.mark.parametrize("name", ["gl", "gd"])
def test_the_corpus_can_be_unpacked(name, tmp_path):
    command = [sys.executable, FUZZ / "unpack_corpus.py", name, tmp_path / name]
    subprocess.run(command, check=True)
    starts = {path.read_bytes()[:1] for path in (tmp_path / name).iterdir()}
    assert starts == {b"\x89"}  # docs/format.md


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in FUZZ.rglob("corpus/*/*")) < 1 << 20
