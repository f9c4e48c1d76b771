"""Graphs whose edges lead from one node type to another: what they answer, and what they refuse."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from forge import HEADER, Forgery, damage
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount.errors import FormatError, IdError, MissingDataError, SourceError

RECTANGULAR = 8
HEADER |= {"num_sources": (72, "Q"), "source_order": (80, "Q")}

SRC = [0, 0, 4, 2, 2, 2]
DST = [1, 0, 2, 1, 1, 0]


@pytest.fixture
def path(tmp_path):
    gm.compile_graph((SRC, DST), tmp_path / "g.gl", num_sources=5, num_destinations=3)
    return tmp_path / "g.gl"


@st.composite
def relations(draw):
    num_sources, num_destinations = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    ends = st.tuples(st.integers(0, num_sources - 1), st.integers(0, num_destinations - 1))
    return num_sources, num_destinations, draw(st.lists(ends, max_size=40))


@settings(max_examples=60, deadline=None)
@given(relation=relations(), neighbors=st.sampled_from(["in", "out", "both"]), data=st.data())
def test_answers_as_plain_python_does(relation, neighbors, data, tmp_path_factory):
    num_sources, num_destinations, edges = relation
    path = tmp_path_factory.mktemp("graph") / "g.gl"
    kwargs = {}
    if data.draw(st.booleans()):
        kwargs["weights"] = [float(i) for i in range(len(edges))]
    if data.draw(st.booleans()):
        kwargs["timestamps"] = [i // 2 for i in range(len(edges))]
    src = np.array([source for source, _ in edges], np.int64)
    dst = np.array([destination for _, destination in edges], np.int64)
    done = gm.compile_graph(
        (src, dst),
        path,
        neighbors=neighbors,
        num_sources=num_sources,
        num_destinations=num_destinations,
        source_rows=True,
        **kwargs,
    )
    assert (done.num_sources, done.num_nodes) == (num_sources, num_destinations)
    g = gm.Graph(path)
    assert (g.num_sources, g.num_destinations, g.is_rectangular) == (
        num_sources,
        num_destinations,
        True,
    )
    assert not gm.verify(path).problems
    for direction in g.directions:
        owners, others = (dst, src) if direction == "in" else (src, dst)
        count = num_destinations if direction == "in" else num_sources
        assert g.degree(direction=direction).tolist() == [
            int((owners == node).sum()) for node in range(count)
        ]
        for node in range(count):
            found = g.neighbors(node, direction=direction)
            assert sorted(found.tolist()) == sorted(others[owners == node].tolist())
            fanout = g.batch_random_fanout([node], 3, direction=direction, pad=-1)
            assert set(fanout[0].tolist()) <= {-1, *found.tolist()}
        lists = g.neighbor_lists(direction)
        if "weights" in kwargs and direction == g.directions[0]:
            rows = lists.source_rows
            assert lists.weights.tolist() == [kwargs["weights"][row] for row in rows]
            assert lists.indices.tolist() == others[rows].tolist()
        with pytest.raises(IdError):
            g.degree([count], direction=direction)
        with pytest.raises(IdError):
            g.neighbors(count, direction=direction)
    pairs = np.indices((num_sources, num_destinations)).reshape(2, -1)
    expected = [(int(a), int(b)) in set(edges) for a, b in pairs.T]
    assert g.has_edge(*pairs).tolist() == expected
    with pytest.raises(IdError):
        g.has_edge([num_sources], [0])
    with pytest.raises(IdError):
        g.has_edge([0], [num_destinations])


def test_source_of_another_graph(path, tmp_path):
    g = gm.Graph(path)
    gm.compile_graph(g, tmp_path / "again.gl", num_sources=5, num_destinations=3)
    assert (tmp_path / "again.gl").read_bytes() == path.read_bytes()
    with pytest.raises(SourceError, match="pass num_sources=5 and num_destinations=3"):
        gm.compile_graph(g, tmp_path / "square.gl")
    with pytest.raises(SourceError, match="says that it has 5 sources and 3 destinations, but"):
        gm.compile_graph(g, tmp_path / "other.gl", num_sources=9, num_destinations=3)
    with pytest.raises(SourceError, match="the numbers of sources and destinations"):
        gm.compile_graph(
            [str(path), _square(tmp_path)], tmp_path / "both.gl", num_sources=5, num_destinations=3
        )


def _square(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "square.gl")
    return str(tmp_path / "square.gl")


def test_repr_and_pickle(path):
    g = gm.Graph(path)
    assert "5 sources, 3 destinations, 6 edges" in repr(g)
    assert pickle.loads(pickle.dumps(g)).num_sources == 5  # noqa: S301
    assert "destinations" in g._repr_html_()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda g: g.num_nodes, "num_nodes"),
        (lambda g: g.sample_neighbors([0], [2]), "sample_neighbors"),
        (lambda g: g.random_walk([0], 2), "random_walk"),
        (lambda g: g.skip_gram_pairs([0], 2, window=1), "skip_gram_pairs"),
        (lambda g: g.visit_counts([0], num_walks=1, length=2), "visit_counts"),
        (lambda g: g.to_internal([1]), "to_internal"),
        (lambda g: g.to_external([1]), "to_external"),
        (lambda g: gm.check_order(g, g), "check_order"),
        (lambda g: gm.expected_access(g, [0], [2]), "expected_access"),
        (lambda g: gm.NeighborLoader(g, [2], batch_size=1), "a loader"),
        (lambda g: gm.LinkNeighborLoader(g, [2], batch_size=1), "a loader"),
        (lambda g: gm.compile_features([[1.0]], "x.gd", order=g), "num_nodes"),
    ],
)
def test_refusals_by_name(call, name, path):
    with pytest.raises(MissingDataError, match=f"{name} is for graphs of one node type") as e:
        call(gm.Graph(path))
    assert "5 nodes of one type to 3 of another" in str(e.value)


def test_core_refuses_what_python_would_not_ask(path):
    core = gm.Graph(path)._open()
    with pytest.raises(MissingDataError, match="this call is for edges between nodes of one type"):
        _ = core.num_nodes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_sources": 5}, "go together"),
        ({"num_destinations": 5}, "go together"),
        ({"num_sources": 5, "num_destinations": 3, "num_nodes": 9}, "num_nodes= is for edges"),
        ({"num_sources": 5, "num_destinations": 3, "directed": False}, "directed=False is for"),
        ({"num_sources": 5, "num_destinations": 3, "self_loops": "drop"}, "self_loops='drop' is"),
        ({"num_sources": 5, "num_destinations": 3, "ids": "map"}, "keeps no external ids"),
        ({"num_sources": 5, "num_destinations": 3, "node_ids": [1, 2]}, "keeps no external ids"),
        ({"num_sources": -1, "num_destinations": 3}, "num_sources"),
        ({"num_sources": 5, "num_destinations": 2**60}, "num_destinations"),
        ({"num_sources": 3, "num_destinations": 3}, "source id 4 is not below num_sources=3"),
        ({"num_sources": 5, "num_destinations": 2}, "destination id 2 is not below"),
    ],
)
def test_bad_options(options, message, tmp_path):
    with pytest.raises((ValueError, SourceError), match=message):
        gm.compile_graph((SRC, DST), tmp_path / "g.gl", **options)
    assert not (tmp_path / "g.gl").exists()


def test_skips_edges_that_cannot_be(tmp_path):
    done = gm.compile_graph(
        (SRC, DST), tmp_path / "g.gl", num_sources=3, num_destinations=3, on_error="skip"
    )
    assert (done.num_edges, done.skipped) == (5, 1)


def test_no_nodes_at_all(tmp_path):
    none = np.empty(0, np.int64)
    gm.compile_graph((none, none), tmp_path / "g.gl", num_sources=0, num_destinations=3)
    g = gm.Graph(tmp_path / "g.gl")
    assert g.degree(direction="out").tolist() == []
    assert g.degree(direction="in").tolist() == [0, 0, 0]
    assert not gm.verify(tmp_path / "g.gl").problems


def test_dedup_counts_edges_between_types(tmp_path):
    done = gm.compile_graph(
        (SRC, DST), tmp_path / "g.gl", num_sources=5, num_destinations=3, dedup=True
    )
    assert done.num_edges == 5


def test_versions(path, tmp_path):
    forgery = Forgery(path)
    assert (forgery.header("major_version"), forgery.header("minor_version")) == (1, 1)
    assert forgery.header("flags") == RECTANGULAR
    assert (forgery.header("num_sources"), forgery.header("num_rows")) == (5, 3)
    gm.compile_graph((SRC, DST), tmp_path / "square.gl")
    square = Forgery(tmp_path / "square.gl")
    assert (square.header("minor_version"), square.header("flags")) == (0, 0)
    assert not any(square.data[72:256])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flags": 0}, "entries for 3 nodes"),
        ({"flags": RECTANGULAR | 1}, "undirected, but lead to another"),
        ({"flags": RECTANGULAR | 4}, "marked as a vector"),
        ({"flags": RECTANGULAR | 16}, "unknown flags"),
        ({"num_sources": 6}, "has 6 entries for 6 nodes"),
        ({"num_sources": 2**63 - 1}, r"exceeds? 2\^63|entries for"),
        ({"num_sources": 2**64 - 1}, r"exceed 2\^63"),
        ({"num_rows": 4}, "has 4 entries for 4 nodes"),
    ],
)
def test_forged_headers(change, message, path):
    forgery = Forgery(path)
    forgery.set_header(**change)
    forgery.save()
    with pytest.raises(FormatError, match=message):
        gm.Graph(path)
    assert [problem.section for problem in gm.verify(path).problems] == ["header"]


def test_flag_on_other_files(tmp_path):
    gm.compile_features([[1.0]], tmp_path / "x.gd")
    forgery = Forgery(tmp_path / "x.gd")
    forgery.set_header(flags=RECTANGULAR)
    forgery.save()
    with pytest.raises(FormatError):
        gm.FeatureStore(tmp_path / "x.gd")
    # A graph of one node type that says it has two, with equal counts, has no ids of either.
    gm.compile_graph((SRC, DST), tmp_path / "ids.gl", node_ids=list("abcde"))
    forgery = Forgery(tmp_path / "ids.gl")
    forgery.set_header(flags=RECTANGULAR, num_sources=5)
    forgery.save()
    with pytest.raises(FormatError, match="external ids of one of them"):
        gm.Graph(tmp_path / "ids.gl")


@pytest.mark.parametrize(("direction", "value"), [(1, 5), (1, -1), (2, 3), (2, 4), (2, -1)])
def test_neighbors_beyond_their_type(direction, value, path):
    """5 is no source and 3 no destination, though each is below one of the two counts."""
    damage(path, "indices", direction, 0, value)
    g = gm.Graph(path)
    way = "in" if direction == 1 else "out"
    with pytest.raises(FormatError, match=f"neighbor {value} of"):
        g.neighbors(0, direction=way)
    with pytest.raises(FormatError):
        g.batch_random_fanout([0], 9, direction=way, pad=-1)
    assert any(f"neighbor {value}" in problem.message for problem in gm.verify(path).problems)


def test_counts_without_lists_are_not_believed(tmp_path):
    path = tmp_path / "g.gl"
    wide = {"index_dtype": "int64", "neighbors": "in"}
    gm.compile_graph((SRC, DST), path, num_sources=5, num_destinations=3, **wide)
    forgery = Forgery(path)
    forgery.set_header(num_sources=2**62)
    forgery.save()
    g = gm.Graph(path)
    with pytest.raises(MissingDataError, match="no neighbor lists for direction='out'"):
        g.degree(direction="out")


def test_directions_are_compared(path):
    damage(path, "indices", 2, 0, 1)
    assert gm.verify(path).problems


def test_info(path):
    command = [sys.executable, "-m", "graphmount", "info", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "sources" in text
    assert "destinations" in text
    found = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    (facts,) = json.loads(found)
    assert (facts["num_sources"], facts["num_destinations"]) == (5, 3)
