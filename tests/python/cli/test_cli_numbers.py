"""Numbers of the command line: bounded before they are used, and shown in short."""

from __future__ import annotations

import re

import pytest

from graphmount.cli import main

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--num-nodes", DIGITS], "argument --num-nodes: '9.*' is not a whole number"),
        (["--num-nodes", "1.5"], "argument --num-nodes: '1.5' is not a whole number"),
        (["--memory", f"{DIGITS}TiB"], "argument --memory: '9.*' is not a size; write '4GiB'"),
        (["--memory", "9999999TiB"], "argument --memory: '9999999TiB' is more than any machine"),
        (["--shape", f"{DIGITS},2"], "argument --shape: '9.*' is not a whole number"),
        (["--columns", f"0,{DIGITS}"], "argument --columns: '9.*' is not a whole number"),
        (["--columns", "0-99999999999"], "argument --columns: '0-99999999999' are more columns"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_numbers(options, message, tmp_path, capsys):
    source = tmp_path / "e.txt"
    source.write_text("0 1\n1 0\n")
    with pytest.raises(SystemExit) as e:
        main(["compile", "graph", str(source), str(tmp_path / "g.gl"), *options])
    assert e.value.code == 2
    error = capsys.readouterr().err
    assert len(error) < 1000
    assert re.search(message, error), error
