"""Progress bars appear when they should: on a terminal, after a while, or when asked for."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

import graphmount as gm
from graphmount._support import progress as _progress
from graphmount._support.sizes import format_bytes, parse_bytes


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_on_request(features_path):
    with redirect_stderr(Terminal()) as terminal:
        gm.verify(features_path, progress=True)
    assert "verifying features.gd" in terminal.getvalue()


def test_no_bar_for_short_work(features_path):
    with redirect_stderr(Terminal()) as terminal:
        gm.verify(features_path)
    assert terminal.getvalue() == ""


def test_bar_for_long_work(features_path, monkeypatch):
    monkeypatch.setattr(_progress, "_SECONDS_BEFORE_BAR", 0.0)
    with redirect_stderr(Terminal()) as terminal:
        gm.verify(features_path)
    assert "verifying features.gd" in terminal.getvalue()


def test_no_bar_where_nobody_looks(features_path, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_SECONDS_BEFORE_BAR", 0.0)
    gm.verify(features_path)
    gm.verify(features_path, progress=False)
    assert capsys.readouterr().err == ""


def test_a_bar_on_request_needs_a_terminal_too(features_path, tmp_path, capsys):
    edges = ([0, 1], [1, 0])
    gm.verify(features_path, progress=True)
    gm.compile_graph(edges, tmp_path / "g.gl", progress=True)
    gm.compile_features([[1.0]], tmp_path / "x.gd", progress=True)
    gm.compile_dataset(tmp_path / "d", edges=edges, features={"x": [[1.0], [2.0]]}, progress=True)
    assert capsys.readouterr() == ("", "")


def test_bars_of_the_compilers(tmp_path):
    with redirect_stderr(Terminal()) as terminal:
        gm.compile_graph(([0], [1]), tmp_path / "g.gl", progress=True)
        gm.compile_features([[1.0]], tmp_path / "x.gd", progress=True)
    assert "writing g.gl" in terminal.getvalue()
    assert "writing x.gd" in terminal.getvalue()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1700, 1700),
        ("1700", 1700),
        ("17 B", 17),
        ("2GiB", 2 << 30),
        ("2G", 2 << 30),
        ("1.5 MiB", 3 << 19),
        ("3kb", 3000),
        ("1TB", 10**12),
        (" 4 kib ", 4096),
    ],
)
def test_sizes(text, size):
    assert parse_bytes(text, "memory") == size


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1 XB", "1,5GB", None, 1.5, True, -3])
def test_wrong_sizes(text):
    with pytest.raises(ValueError, match=r"memory=.* is not a size"):
        parse_bytes(text, "memory")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (2 << 30, "2.0 GiB"),
        (3 << 50, "3072.0 TiB"),
    ],
)
def test_shown_sizes(size, text):
    assert format_bytes(size) == text
