"""sample_neighbors: its structure, against a slow twin; its arguments; its independence."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled_graphs import graphs
from sampling_twin import Lists, induced, replay

import graphmount as gm
from graphmount import errors


@given(graphs(), st.data())
def test_structure_is_that_of_the_twin(tmp_path_factory, graph, data):
    edges, options = graph
    path = tmp_path_factory.mktemp("graph") / "g.gl"
    gm.compile_graph(edges, path, **options)
    g = gm.Graph(path, reads=data.draw(st.sampled_from(["batch", "fault"])))
    seeds = data.draw(st.lists(st.integers(0, g.num_nodes - 1), max_size=8))
    fanouts = data.draw(st.lists(st.sampled_from([-1, 0, 1, 2, 3, 20]), max_size=3))
    times = None
    if g.has_timestamps and data.draw(st.booleans()):
        times = data.draw(st.lists(st.integers(-4, 4), min_size=len(seeds), max_size=len(seeds)))
    last = times is not None and data.draw(st.booleans())
    rule = {
        "replace": not last and data.draw(st.booleans()),
        "weighted": not last and g.has_weights and data.draw(st.booleans()),
        "disjoint": times is not None or data.draw(st.booleans()),
    }
    direction = data.draw(st.sampled_from(["in", "out"]))
    call = {
        **rule,
        "time": times,
        "temporal_strategy": "last" if last else "uniform",
        "direction": direction,
        "seed": data.draw(st.integers(0, 2**64 - 1)),
    }
    sample = g.sample_neighbors(seeds, fanouts, **call)
    lists = Lists(g, direction)
    nodes, neighbors, targets, batch, num_nodes, num_edges = replay(
        lists, seeds, fanouts, sample.edge_ids.tolist(), times=times, last=last, **rule
    )
    row, col = (neighbors, targets) if direction == "in" else (targets, neighbors)
    assert sample.nodes.tolist() == nodes
    assert sample.row.tolist() == row
    assert sample.col.tolist() == col
    assert sample.num_sampled_nodes == num_nodes
    assert sample.num_sampled_edges == num_edges
    if rule["disjoint"]:
        assert sample.batch.tolist() == batch
    else:
        assert sample.batch is None
    again = partial(g.sample_neighbors, seeds, fanouts, **call)
    check_bidirectional(again(subgraph_type="bidirectional"), sample)
    whole = again(subgraph_type="induced")
    expected = induced(lists, nodes, batch, disjoint=rule["disjoint"], times=times)
    check_induced(whole, sample, direction, expected)


def check_bidirectional(both, sample):
    assert both.nodes.tolist() == sample.nodes.tolist()
    assert both.num_sampled_edges is None
    forward = set(zip(sample.row.tolist(), sample.col.tolist(), strict=True))
    pairs = list(zip(both.row.tolist(), both.col.tolist(), strict=True))
    assert pairs == sorted(forward | {(b, a) for a, b in forward}, key=lambda pair: pair[::-1])
    ends = {}
    for source, destination, edge in zip(sample.row, sample.col, sample.edge_ids, strict=True):
        ends.setdefault((source, destination), set()).add(edge)
    for pair, edge in zip(pairs, both.edge_ids.tolist(), strict=True):
        assert edge in (ends[pair] if pair in ends else ends[pair[::-1]])


def check_induced(whole, sample, direction, expected):
    assert whole.nodes.tolist() == sample.nodes.tolist()
    assert whole.num_sampled_edges is None
    near, far = (whole.row, whole.col) if direction == "in" else (whole.col, whole.row)
    found = sorted(zip(near.tolist(), far.tolist(), whole.edge_ids.tolist(), strict=True))
    assert found == expected
    assert far.tolist() == sorted(far.tolist())


def same(one, other):
    for name in ("nodes", "row", "col", "edge_ids"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.num_sampled_nodes == other.num_sampled_nodes
    assert one.num_sampled_edges == other.num_sampled_edges


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replace": True},
        {"weighted": True},
        {"weighted": True, "replace": True},
        {"disjoint": True},
        {"subgraph_type": "induced"},
        {"direction": "out"},
        {"time": True},
        {"time": True, "weighted": True},
        {"time": True, "weighted": True, "replace": True},
    ],
    ids=str,
)
def test_result_depends_on_the_seed_only(large, options):
    seeds = np.random.default_rng(2).integers(0, 20_000, 500)
    if "time" in options:
        options = options | {"time": seeds % 100}
    before = gm.num_threads()
    samples = []
    try:
        for threads in (1, 2, 7):
            gm.set_num_threads(threads)
            for reads in ("batch", "fault"):
                g = gm.Graph(large, reads=reads)
                samples.append(g.sample_neighbors(seeds, [15, 10, 5], seed=(3, 4), **options))
    finally:
        gm.set_num_threads(before)
    for sample in samples[1:]:
        same(samples[0], sample)
    other = gm.Graph(large).sample_neighbors(seeds, [15, 10, 5], seed=(3, 5), **options)
    assert other.edge_ids.tolist() != samples[0].edge_ids.tolist()


def test_large_sample_against_the_twin(large):
    g = gm.Graph(large)
    seeds = np.random.default_rng(5).integers(0, 20_000, 600).tolist()
    sample = g.sample_neighbors(seeds, [25, 10], seed=1)
    rule = {"replace": False, "weighted": False, "disjoint": False, "times": None, "last": False}
    nodes, row, col, _, num_nodes, num_edges = replay(
        Lists(g, "in"), seeds, [25, 10], sample.edge_ids.tolist(), **rule
    )
    assert sample.nodes.tolist() == nodes
    assert (sample.row.tolist(), sample.col.tolist()) == (row, col)
    assert (sample.num_sampled_nodes, sample.num_sampled_edges) == (num_nodes, num_edges)
    assert num_edges[1] > 20_000  # several chunks and ranges of items


def test_samples_do_not_change_when_others_are_made(large):
    g = gm.Graph(large)
    kept = g.sample_neighbors([1, 2, 3], [10, 10], seed=1)
    copy = kept.nodes.copy(), kept.row.copy(), kept.edge_ids.copy()
    for seed in range(50):
        g.sample_neighbors(np.arange(seed), [10, 10], seed=seed)
    for array, expected in zip((kept.nodes, kept.row, kept.edge_ids), copy, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_a_hub_with_a_million_neighbors(tmp_path):
    neighbors = np.arange(1_000_001)
    gm.compile_graph((neighbors, np.zeros_like(neighbors)), tmp_path / "hub.gl", neighbors="in")
    g = gm.Graph(tmp_path / "hub.gl")
    few = g.sample_neighbors([0], [15], seed=1)
    assert len(np.unique(few.nodes)) == few.num_nodes >= 15
    every = g.sample_neighbors([0], [-1])
    assert every.num_edges == 1_000_001
    assert every.nodes.tolist() == neighbors.tolist()
    induced = g.sample_neighbors([0, 5], [0], subgraph_type="induced")  # searched, not scanned
    assert sorted(zip(induced.row.tolist(), induced.col.tolist(), strict=True)) == [(0, 0), (1, 0)]


def test_repeated_seeds(tmp_path):
    gm.compile_graph(([1, 2, 0], [0, 0, 1]), tmp_path / "g.gl")
    sample = gm.Graph(tmp_path / "g.gl").sample_neighbors([0, 0, 1], [-1])
    assert sample.nodes.tolist() == [0, 0, 1, 2]
    assert sample.col.tolist() == [0, 0, 1, 1, 2]
    assert sample.row.tolist() == [2, 3, 2, 3, 0]


def test_nothing_to_sample(tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", num_nodes=3)
    g = gm.Graph(tmp_path / "g.gl")
    for seeds, fanouts in ([[], [3]], [[], []], [[1], []], [[1], [0]], [[1, 2], [5, 5]]):
        sample = g.sample_neighbors(seeds, fanouts)
        assert sample.nodes.tolist() == seeds
        assert sample.num_edges == 0
        assert sample.num_sampled_nodes == (len(seeds), *[0] * len(fanouts))
        assert sample.num_sampled_edges == (0,) * len(fanouts)


@pytest.mark.parametrize(
    ("seeds", "options", "error", "message"),
    [
        ([50], {}, errors.IdError, "node 50 .at position 0. does not exist"),
        ([0, -1], {}, errors.IdError, "node -1 .at position 1. does not exist"),
        ([0.5], {}, TypeError, "seeds must be integers, not float64"),
        ([[0]], {}, ValueError, "seeds must be one-dimensional"),
        ([0], {"fanouts": [-2]}, ValueError, "fanouts.0. must be at least -1"),
        ([0], {"fanouts": [1.5]}, TypeError, "fanouts.0. must be one integer"),
        ([0], {"direction": "up"}, ValueError, "direction='up'"),
        ([0], {"subgraph_type": "all"}, ValueError, "subgraph_type='all'"),
        ([0], {"replace": 1}, ValueError, "replace=1"),
        ([0], {"temporal_strategy": "last"}, ValueError, "needs time="),
        ([0], {"time": [1, 2]}, ValueError, "2 times for 1 seeds"),
        ([0], {"time": [0.5]}, TypeError, "time must be integers"),
        (
            [0],
            {"time": [1], "temporal_strategy": "last", "weighted": True},
            ValueError,
            "neither with weighted=True",
        ),
        ([0], {"seed": -1}, ValueError, "seed must be at least 0"),
        ([0], {"seed": 2**64}, ValueError, "seed must be"),
        ([0], {"seed": "one"}, TypeError, "seed must be one integer"),
        ([0], {"seed": []}, ValueError, "seed has no parts"),
    ],
    ids=str,
)
def test_refusals(graph_path, seeds, options, error, message):
    g = gm.Graph(graph_path)
    with pytest.raises(error, match=message):
        g.sample_neighbors(seeds, **({"fanouts": [2]} | options))


def test_a_file_that_lacks_what_is_asked_for(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "out.gl", neighbors="out")
    g = gm.Graph(tmp_path / "out.gl")
    with pytest.raises(errors.MissingDataError, match="neighbors='in'"):
        g.sample_neighbors([0], [1])
    with pytest.raises(errors.MissingDataError, match="no weights"):
        g.sample_neighbors([0], [1], direction="out", weighted=True)
    with pytest.raises(errors.MissingDataError, match="no timestamps"):
        g.sample_neighbors([0], [1], direction="out", time=[1])
    g.close()
    with pytest.raises(errors.ClosedError):
        g.sample_neighbors([0], [1])


def test_edge_ids_of_an_out_only_file_are_its_positions(tmp_path):
    gm.compile_graph(([0, 0, 1], [1, 2, 0]), tmp_path / "out.gl", neighbors="out")
    sample = gm.Graph(tmp_path / "out.gl").sample_neighbors([0], [-1], direction="out")
    assert sample.edge_ids.tolist() == [0, 1]


def test_without_a_seed_the_global_generators_govern(graph_path):
    torch = pytest.importorskip("torch")
    g = gm.Graph(graph_path)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(g.sample_neighbors(np.arange(50), [2]).edge_ids.tolist())
    assert results[0] == results[1] != results[2]
