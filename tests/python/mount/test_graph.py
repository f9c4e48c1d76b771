"""Graph: what it tells, what it refuses, and its external ids."""

from __future__ import annotations

import re

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm


@pytest.fixture
def diamond(tmp_path):
    """0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3, and 4 alone."""
    gm.compile_graph(([0, 0, 1, 2], [1, 2, 3, 3]), tmp_path / "diamond.gl", num_nodes=5)
    return gm.Graph(tmp_path / "diamond.gl")


def test_facts(diamond):
    assert (diamond.num_nodes, diamond.num_edges) == (5, 4)
    assert diamond.directed
    assert diamond.directions == ("in", "out")
    assert not diamond.has_weights
    assert not diamond.has_timestamps
    assert diamond.weights is None
    assert diamond.node_id_type is None
    assert repr(diamond) == f"<Graph '{diamond.path}': 5 nodes, 4 edges, directed>"
    diamond.close()
    assert repr(diamond) == f"<Graph '{diamond.path}', closed>"


def test_default_views_are_the_incoming_lists(diamond):
    assert diamond.indptr.tolist() == [0, 0, 1, 2, 4, 4]
    assert diamond.indices.tolist() == [0, 0, 1, 2]
    for view in (diamond.indptr, diamond.indices):
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


def test_directions(diamond):
    assert diamond.neighbors(3).tolist() == [1, 2]
    assert diamond.neighbors(0, direction="out").tolist() == [1, 2]
    assert diamond.neighbors(4).tolist() == []
    assert diamond.degree([3, 0]).tolist() == [2, 0]
    assert diamond.degree([3, 0], direction="out").tolist() == [0, 2]
    for direction in ("up", None):
        for call in (diamond.degree, diamond.degree_summary, diamond.neighbor_lists):
            with pytest.raises(ValueError, match=f"direction={direction!r}; choose one of 'in', "):
                call(direction=direction)
        with pytest.raises(ValueError, match="choose one of 'in', 'out'"):
            diamond.neighbors(0, direction=direction)
        with pytest.raises(ValueError, match="choose one of 'in', 'out'"):
            diamond.prefetch([0], direction=direction)


@pytest.mark.parametrize("kept", ["in", "out"])
def test_missing_direction_names_the_remedy(kept, tmp_path):
    path = tmp_path / "half.gl"
    gm.compile_graph(([0, 1], [1, 2]), path, neighbors=kept)
    graph = gm.Graph(path)
    assert graph.directions == (kept,)
    other = "out" if kept == "in" else "in"
    for call in (
        lambda: graph.degree([0], direction=other),
        lambda: graph.degree(direction=other),
        lambda: graph.neighbors(0, direction=other),
        lambda: graph.prefetch([0], direction=other),
        lambda: graph.neighbor_lists(other),
        lambda: graph.degree_summary(direction=other),
    ):
        with pytest.raises(gm.errors.MissingDataError, match=f"neighbors='{other}'") as caught:
            call()
        assert caught.value.path == str(path)


def test_undirected_graph_serves_both_directions_with_one_copy(tmp_path):
    gm.compile_graph(([0, 1, 2], [1, 2, 2]), tmp_path / "u.gl", directed=False)
    graph = gm.Graph(tmp_path / "u.gl")
    assert graph.num_edges == 5  # both halves of two edges, and one loop
    assert graph.directions == ("in", "out")
    for direction in graph.directions:
        assert graph.neighbors(2, direction=direction).tolist() == [1, 2]
    assert np.shares_memory(graph.neighbor_lists("in").indices, graph.neighbor_lists("out").indices)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([5], gm.errors.IdError, "node 5 (at position 0) does not exist"),
        ([0, 1, -1], gm.errors.IdError, "node -1 (at position 2)"),
        ([0.5], TypeError, "must be integers"),
        ([[0]], ValueError, "one-dimensional"),
    ],
)
def test_bad_ids(ids, error, message, diamond):
    for call in (diamond.degree, diamond.prefetch):
        with pytest.raises(error, match=re.escape(message)):
            call(ids)


@pytest.mark.parametrize("node", [5, -1, 2**62, 2**63, -(2**70)])
def test_neighbors_of_no_node(node, diamond):
    with pytest.raises(gm.errors.IdError, match=f"{node}.*(numbered from 0 to 4|no node)"):
        diamond.neighbors(node)


@pytest.mark.parametrize("node", [0.0, "0", None, True, [1, 2], np.bool_(1)])
def test_neighbors_of_no_number(node, diamond):
    with pytest.raises(TypeError, match="id must be one integer, not "):
        diamond.neighbors(node)


def test_neighbors_of_numpy_integers(diamond):
    assert diamond.neighbors(np.int32(3)).tolist() == [1, 2]
    assert diamond.neighbors(np.uint64(3)).tolist() == [1, 2]


def test_empty_graph(tmp_path):
    gm.compile_graph(([], []), tmp_path / "none.gl", num_nodes=0)
    graph = gm.Graph(tmp_path / "none.gl")
    assert (graph.num_nodes, graph.num_edges) == (0, 0)
    assert graph.degree().tolist() == []
    assert graph.indptr.tolist() == [0]
    assert graph.prefetch([]) == 0
    with pytest.raises(gm.errors.IdError, match="there are no nodes"):
        graph.neighbors(0)
    assert graph.degree_summary().histogram == ((0, 0, 0),)
    assert gm.verify(graph.path).ok


def test_degree_summary_against_numpy(tmp_path):
    generator = np.random.default_rng(3)
    dst = (generator.pareto(1.0, 50_000) * 3).astype(np.int64) % 2000
    gm.compile_graph((generator.integers(0, 2000, 50_000), dst), tmp_path / "g.gl", num_nodes=2000)
    degrees = np.bincount(dst, minlength=2000)
    summary = gm.Graph(tmp_path / "g.gl").degree_summary()
    assert summary.smallest == degrees.min()
    assert summary.largest == degrees.max()
    assert summary.mean == pytest.approx(degrees.mean())
    assert summary.isolated == np.sum(degrees == 0)
    ordered = np.sort(degrees)
    assert summary.median == ordered[999]
    assert summary.ninety_percent == ordered[1799]
    assert summary.ninety_nine_percent == ordered[1979]
    for low, high, count in summary.histogram:
        assert count == np.sum((degrees >= low) & (degrees <= high))
    assert sum(count for _, _, count in summary.histogram) == 2000


def test_prefetch_counts_whole_pages(diamond):
    assert diamond.prefetch([]) == 0
    assert diamond.prefetch([4]) == 4096  # its offsets; its list is empty
    assert diamond.prefetch([3, 3, 1]) == 8192  # offsets and one page of neighbors


@pytest.mark.parametrize(
    "node_ids",
    [
        [700, -3, 2**62],
        ["b", "", "ä猫"],
        np.array(["x", "yy", "zzz"]),
        np.array([9, 8, 7], np.uint16),
    ],
)
def test_external_ids(node_ids, tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl", node_ids=node_ids)
    graph = gm.Graph(tmp_path / "g.gl")
    keys = list(node_ids)
    assert graph.node_id_type is (str if isinstance(keys[0], str) else int)
    assert list(graph.to_external([2, 0, 2])) == [keys[2], keys[0], keys[2]]
    assert graph.to_internal([keys[1], keys[1], keys[0]]).tolist() == [1, 1, 0]
    assert graph.to_internal([]).tolist() == []
    assert graph.order != 0
    with pytest.raises(gm.errors.IdError, match="node 3"):
        graph.to_external([3])


def test_unknown_external_ids(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "n.gl", node_ids=[10, 20])
    gm.compile_graph(([0], [1]), tmp_path / "s.gl", node_ids=["ann", "bob"])
    numbers, names = gm.Graph(tmp_path / "n.gl"), gm.Graph(tmp_path / "s.gl")
    for key in (5, 15, 25):
        with pytest.raises(gm.errors.IdError, match=f"external id {key} .at position 1"):
            numbers.to_internal([10, key])
    for key in ("", "az", "zoe"):
        with pytest.raises(gm.errors.IdError, match=f"external id '{key}' .at position 0"):
            names.to_internal([key])
    many = np.full(100_000, 10)
    many[[90_000, 54_321, 99_999]] = 7
    with pytest.raises(gm.errors.IdError, match="at position 54321"):
        numbers.to_internal(many)
    with pytest.raises(gm.errors.IdError, match="position 1"):
        names.to_internal(["ann", "\udc80"])
    with pytest.raises(TypeError, match="are strings"):
        names.to_internal([3])
    with pytest.raises(TypeError, match="must be integers"):
        numbers.to_internal(["ann"])
    with pytest.raises(ValueError, match="one-dimensional"):
        names.to_internal([["ann"]])


def test_no_external_ids(diamond):
    for call in (diamond.to_internal, diamond.to_external):
        with pytest.raises(gm.errors.MissingDataError, match="no external node ids"):
            call([0])


@given(
    keys=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=300, unique=True)
    | st.lists(st.text(max_size=20), min_size=1, max_size=300, unique=True),
    data=st.data(),
)
def test_any_external_ids(keys, data, tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", node_ids=keys)
    graph = gm.Graph(tmp_path / "g.gl")
    nodes = data.draw(st.lists(st.integers(0, len(keys) - 1)))
    assert list(graph.to_external(nodes)) == [keys[node] for node in nodes]
    assert graph.to_internal([keys[node] for node in nodes]).tolist() == nodes
    other = data.draw(st.text() if isinstance(keys[0], str) else st.integers(-(2**63), 2**63 - 1))
    if other not in keys:
        with pytest.raises(gm.errors.IdError, match="no node has the external id"):
            graph.to_internal([keys[0], other])
    table = reference.parse(graph.path).sections["id_table", 0].ravel()
    assert table.tolist() == reference.id_table(keys, len(table))
    assert gm.verify(graph.path).ok


def test_external_ids_that_fill_a_group(tmp_path):
    """Of 2 x 4096 slots, all ids lead to the last of the first group, or to the second group."""
    path = tmp_path / "g.gl"
    keys = [reference.id_unhash((i << 13) + (4095 if i < 4096 else 4096)) for i in range(5000)]
    gm.compile_graph(([], []), path, node_ids=keys)
    graph = gm.Graph(path)
    assert graph.to_internal(keys).tolist() == list(range(5000))
    table = reference.parse(path).sections["id_table", 0].ravel()
    assert sorted(table[:4096]) == list(range(4096))
    with pytest.raises(gm.errors.IdError):
        graph.to_internal([reference.id_unhash((5000 << 13) + 4095)])
    assert gm.verify(path).ok
    # One more, and the table doubles.
    keys.append(reference.id_unhash((5000 << 13) + 4095))
    gm.compile_graph(([], []), path, node_ids=keys)
    assert len(reference.parse(path).sections["id_table", 0]) == 16384
    assert gm.Graph(path).to_internal(keys).tolist() == list(range(5001))
    assert gm.verify(path).ok


def test_external_ids_that_no_table_can_hold(tmp_path):
    keys = [reference.id_unhash(i << 40) for i in range(5000)]
    with pytest.raises(gm.errors.SourceError, match="hashes that are almost equal"):
        gm.compile_graph(([], []), tmp_path / "g.gl", node_ids=keys)
    with pytest.raises(gm.errors.SourceError, match="nodes 0 and 1 have the same external id 'a'"):
        gm.compile_graph(([], []), tmp_path / "g.gl", node_ids=["a"] * 5000)
    assert list(tmp_path.iterdir()) == []


def test_many_external_ids(tmp_path):
    generator = np.random.default_rng(4)
    keys = generator.choice(10**12, 100_000, replace=False)
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=keys)
    graph = gm.Graph(tmp_path / "g.gl")
    nodes = generator.integers(0, 100_000, 300_000)
    assert np.array_equal(graph.to_external(nodes), keys[nodes])
    assert np.array_equal(graph.to_internal(keys[nodes]), nodes)
