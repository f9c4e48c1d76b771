"""What compiling returns, printed: one line that says what there is, and how to open it."""

from __future__ import annotations

import re

import pytest

import graphmount as gm


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def opened(line):
    """What the line says that opens it."""
    return eval(re.search(r"; (gm\..*) opens it>$", line)[1])  # noqa: S307  (our own line)


def test_lines():
    done = gm.compile_dataset("ring", edges=([0, 1, 2], [1, 2, 0]))
    assert re.match(r"<CompiledDataset: 3 nodes, 3 edges, [\d.]+ KiB in \d+\.\d\d s; ", repr(done))
    assert opened(str(done)).num_nodes == 3
    done = gm.compile_graph(([0, 1, 2], [1, 2, 0]), "ring.gl")
    assert re.match(r"<CompiledGraph: 3 nodes, 3 edges, [\d.]+ KiB in \d+\.\d\d s; ", repr(done))
    assert opened(str(done)).num_edges == 3
    done = gm.compile_features([[1.0], [2.0]], "x.gd", key=[0, 3], missing=0)
    expected = r"<CompiledFeatures: float64 \(4, 1\), 2 rows missing, [\d.]+ KiB in \d+\.\d\d s; "
    assert re.match(expected, repr(done))
    assert opened(str(done)).shape == (4, 1)


def test_rows_that_were_left_out_are_told(tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n1,x\n")
    done = gm.compile_graph("e.csv", "g.gl", on_error="skip")
    assert " s, 1 row skipped; gm.Graph(" in repr(done)


def test_tables_of_notebooks_still_have_all_fields():
    html = gm.compile_dataset("ring", edges=([0, 1, 2], [1, 2, 0]))._repr_html_()
    assert "file_bytes" in html
    assert "skipped_examples" in html
