"""Ids of any kind, numbered as they appear, from every kind of source."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_samples import (
    DST,
    SRC,
    WEIGHTS,
    as_text,
    keys_of,
    write,
    write_table,
)

import graphmount as gm


def as_they_appear(src, dst):
    """The ends of the edges, edge by edge, each once."""
    return list(dict.fromkeys(end for edge in zip(src, dst, strict=True) for end in edge))


@pytest.mark.parametrize("kind", ["int", "str", "uuid"])
@pytest.mark.parametrize("source", ["csv", "parquet", "polars", "networkx", "raw uuids", "arrays"])
def test_map(kind, source, tmp_path):
    keys = keys_of(kind)
    src, dst = [keys[i] for i in SRC], [keys[i] for i in DST]
    if source == "csv":
        edges = write(tmp_path / "e.csv", as_text(src, dst))
    elif source == "networkx":
        edges = pytest.importorskip("networkx").MultiDiGraph(list(zip(src, dst, strict=True)))
        pairs = list(edges.edges())
        src, dst = [a for a, _ in pairs], [b for _, b in pairs]
    elif source == "arrays":
        edges = (src, dst) if kind != "uuid" else (np.array(src), np.array(dst, object))
    else:
        pa = pytest.importorskip("pyarrow")
        ends = [pa.array(src), pa.array(dst)]
        if source == "raw uuids":
            if kind != "uuid":
                pytest.skip("UUIDs only")
            raw = [[uuid.UUID(key).bytes for key in column] for column in (src, dst)]
            ends = [pa.array(column, pa.binary(16)) for column in raw]
        edges = pa.table(ends, names=["src", "dst"])
        if source == "parquet":
            write_table(tmp_path / "e.parquet", edges)
            edges = tmp_path / "e.parquet"
        elif source == "polars":
            edges = pytest.importorskip("polars").from_arrow(edges)
    report = gm.compile_graph(edges, tmp_path / "g.gl", ids="map")
    graph = gm.Graph(tmp_path / "g.gl")
    assert (report.num_nodes, report.num_edges) == (len({*src, *dst}), 60)
    assert graph.node_id_type is (int if kind == "int" else str)
    nodes = np.arange(report.num_nodes)
    external = list(graph.to_external(nodes))
    assert sorted(external) == sorted({*src, *dst})
    assert graph.to_internal(external).tolist() == nodes.tolist()
    assert external == (list(edges) if source == "networkx" else as_they_appear(src, dst))
    # The graph is the one of the numbers.
    numbers = graph.to_internal(src), graph.to_internal(dst)
    gm.compile_graph(numbers, tmp_path / "twin.gl", node_ids=external)
    assert (tmp_path / "g.gl").read_bytes() == (tmp_path / "twin.gl").read_bytes()


@pytest.mark.parametrize("kind", ["int", "str"])
def test_map_of_a_closed_set(kind, check_graph, tmp_path):
    keys = keys_of(kind)
    text = as_text([keys[i] for i in SRC], [keys[i] for i in DST], WEIGHTS)
    path = write(tmp_path / "e.csv", text)
    check_graph(
        path, sides=["weights"], expect={"node_ids": keys}, ids="map", node_ids=keys, weights=2
    )
    others = [key for key in keys if key != keys[SRC[33]]]
    with pytest.raises(gm.errors.SourceError, match=r"e\.csv, edge \d+: .* is not among node_ids"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=others)
    report = gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=others, on_error="skip")
    bad = (SRC[33] == SRC) | (SRC[33] == DST)
    assert (report.skipped, report.num_edges) == (bad.sum(), (~bad).sum())
    assert repr(keys[SRC[33]]) in " ".join(report.skipped_examples)
    wrong = list(range(20)) if kind == "str" else ["a", "b"]
    with pytest.raises(gm.errors.SourceError, match=r"e\.csv has .* for ids, and node_ids"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=wrong)
    with pytest.raises(gm.errors.SourceError, match="nodes 0 and 2 have the same external id"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=[*keys[:2], *keys])


@pytest.mark.parametrize("kind", ["own file", "networkx"])
def test_ids_that_a_source_knows_stay_with_weights_from_elsewhere(kind, tmp_path):
    """Also of nodes without an edge, which the edges do not tell of."""
    if kind == "own file":
        source = tmp_path / "own.gl"
        gm.compile_graph(([0, 2], [2, 0]), source, node_ids=["a", "alone", "b"])
        options = {}
    else:
        source = pytest.importorskip("networkx").DiGraph([("a", "b"), ("b", "a")])
        source.add_node("alone")
        options = {"ids": "map"}
    gm.compile_graph(source, tmp_path / "g.gl", weights=[0.5, 0.25], **options)
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.has_weights
    assert sorted(graph.to_external(range(3))) == ["a", "alone", "b"]


def test_key_type(tmp_path):
    path = write(tmp_path / "e.csv", "01,1\n1,2\n")
    gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="str")
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1, 2]) == ["01", "1", "2"]
    gm.compile_graph(path, tmp_path / "g.gl", ids="map")
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1]).tolist() == [1, 2]
    write(path, "1,2\n" * 50_000 + "x,2\n")  # what the first lines do not show
    with pytest.raises(gm.errors.SourceError, match=r"line 50001, column 1: 'x' .*key_type='str'"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="int")
    assert gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="str").num_nodes == 3


@given(pairs=st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9)), min_size=1))
def test_any_integers_can_be_mapped(pairs, tmp_path):
    src, dst = map(list, zip(*pairs, strict=True))
    report = gm.compile_graph((src, dst), tmp_path / "g.gl", ids="map", source_rows=True)
    graph = gm.Graph(tmp_path / "g.gl")
    external = graph.to_external(np.arange(report.num_nodes))
    assert external.tolist() == as_they_appear(src, dst)
    lists = graph.neighbor_lists("in")
    owners = np.repeat(np.arange(report.num_nodes), np.diff(lists.indptr))
    for owner, neighbor, row in zip(owners, lists.indices, lists.source_rows, strict=True):
        assert graph.to_external([neighbor, owner]).tolist() == list(pairs[row])
