"""A text file that cannot be written whole: the old one stays, and nothing is left beside it."""

from __future__ import annotations

import errno
import os

import pytest

from graphmount._support.files.text_output import write_text


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "report.txt"
    for text in ("first", "second"):
        write_text(path, text)
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "report.txt"
    path.write_text("old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path], "the partial file is still there"
