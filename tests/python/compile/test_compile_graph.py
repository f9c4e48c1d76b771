"""compile_graph: sources, options, and what it refuses. Round trips are in test_round_trip.py."""

from __future__ import annotations

import re

import numpy as np
import pytest

import graphmount as gm


@pytest.mark.parametrize(
    "source",
    [
        ([0, 1], [1, 2]),
        (np.array([0, 1], np.int32), np.array([1, 2], np.uint8)),
        np.array([[0, 1], [1, 2]]),
        np.array([[0, 1], [1, 2]], order="F", dtype=np.uint64),
        [[0, 1], [1, 2]],
        (range(2), np.array([9, 1, 9, 2])[1::2]),
    ],
)
def test_sources(source, tmp_path):
    report = gm.compile_graph(source, tmp_path / "g.gl")
    assert (report.num_nodes, report.num_edges) == (3, 2)
    assert report.path == str(tmp_path / "g.gl")
    assert report.file_bytes == (tmp_path / "g.gl").stat().st_size
    assert report.seconds >= 0
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.indices.tolist() == [0, 1]
    assert graph.neighbors(1, direction="out").tolist() == [2]


def test_torch_source(tmp_path):
    torch = pytest.importorskip("torch")
    edge_index = torch.tensor([[0, 1, 1], [1, 2, 0]])
    gm.compile_graph(edge_index, tmp_path / "g.gl", weights=torch.tensor([1.0, 2.0, 3.0]))
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.neighbors(1, direction="out").tolist() == [0, 2]
    assert graph.neighbor_lists("out").weights.tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        (
            ([0, -5], [1, 1]),
            {},
            gm.errors.SourceError,
            "edges in memory, edge 1: node id -5 is negative",
        ),
        (([0, 7], [1, 1]), {"num_nodes": 3}, gm.errors.SourceError, "7 is not below num_nodes=3"),
        (([0], [1]), {"weights": [-1]}, gm.errors.SourceError, "edge 0: weight -1"),
        (([0], [1]), {"weights": [np.nan]}, gm.errors.SourceError, "edge 0: weight nan"),
        (([0], [1]), {"weights": [np.inf]}, gm.errors.SourceError, "edge 0: weight inf"),
        (([0], [1]), {"weights": [1e300]}, gm.errors.SourceError, "1e+300 is too large for"),
        (
            ([0, 0], [1, 1]),
            {"weights": [3e38, 3e38], "dedup": "sum"},
            gm.errors.SourceError,
            "add up to more than float32 can hold",
        ),
        (([0], [1]), {"node_ids": [4, 4]}, gm.errors.SourceError, "nodes 0 and 1 have the same"),
        (([0], [1]), {"node_ids": ["a", "a"]}, gm.errors.SourceError, "the same external id 'a'"),
        (([0], [1]), {"node_ids": ["a", "\ud800"]}, gm.errors.SourceError, "not valid text"),
        (([0], [5]), {"node_ids": [1, 2]}, gm.errors.SourceError, "5 is not below num_nodes=2"),
        (([0], [5]), {"node_ids": []}, gm.errors.SourceError, "not below num_nodes=0"),
        (([], []), {}, gm.errors.SourceError, "there are no edges in it; pass num_nodes= if"),
        (([], []), {"ids": "map"}, gm.errors.SourceError, "edges in memory: there are no edges"),
        (([0, 1], [1]), {}, ValueError, "destinations has shape (1,), but there are 2 edges"),
        (([0], [1]), {"weights": [1, 2]}, ValueError, "weights has 2 values for 1 edge"),
        (([0], [1]), {"timestamps": []}, ValueError, "timestamps has 0 values for 1 edge"),
        (([0], [1]), {"weights": [[1]]}, ValueError, "has shape (1, 1), but one value is needed"),
        (([0], [1]), {"num_nodes": -1}, ValueError, "num_nodes must be at least 0"),
        (([0], [1]), {"num_nodes": 3.0}, TypeError, "num_nodes must be one integer, not 3.0"),
        (([0], [1]), {"progress": 5}, TypeError, "progress must be True, False, None or"),
        (([0], [1]), {"num_nodes": 3, "node_ids": [1, 2]}, ValueError, "there are 2 node_ids"),
        (([0], [1]), {"dedup": "sum"}, ValueError, "no weights are given"),
        (([0], [1]), {"dedup": "last"}, ValueError, "dedup='last'; choose one of"),
        (([0], [1]), {"dedup": 1}, ValueError, "dedup=1; choose one of"),
        (([0], [1]), {"neighbors": "all"}, ValueError, "neighbors='all'; choose one of"),
        (([0], [1]), {"self_loops": "add"}, ValueError, "self_loops='add'; choose one of"),
        (([0], [1]), {"index_dtype": "uint32"}, ValueError, "index_dtype='uint32'"),
        (([0], [1]), {"memory": "lots"}, ValueError, "memory='lots' is not a size"),
        (([0], [1]), {"memory": "63MiB"}, ValueError, "it takes 64.0 MiB at least"),
        (([0], [1]), {"ids": "names"}, ValueError, "ids='names'; choose one of 'dense', 'map'"),
        (([0], [1]), {"key_type": "uuid"}, ValueError, "key_type='uuid'; choose one of"),
        (([0], [1]), {"on_error": "ignore"}, ValueError, "on_error='ignore'; choose one of"),
        (([0], [1], [2]), {}, ValueError, "not 3 arrays"),
        (np.zeros((5, 2), int), {}, ValueError, "shape (2, edges), not (5, 2)"),
        (np.zeros(4, int), {}, ValueError, "shape (2, edges), not (4,)"),
        (([0.0], [1.0]), {}, TypeError, "sources must be integers, not float64"),
        (([True], [False]), {}, TypeError, "sources must be integers, not bool"),
        ((["a"], ["b"]), {}, TypeError, "are strings; pass ids='map'"),
        (([0], [1]), {"weights": ["x"]}, TypeError, "weights must be numbers"),
        (([0], [1]), {"weights": [True]}, TypeError, "weights must be numbers, not bool"),
        (([0], [1]), {"timestamps": [0.5]}, TypeError, "timestamps must be integers or datetime"),
        (([0], [1]), {"node_ids": [1.5, 2.5]}, TypeError, "node_ids must be integers"),
        (([0], [1]), {"node_ids": np.array(["a", 3], object)}, TypeError, "all integers or all"),
        (([[0]], [[1]]), {}, ValueError, "one-dimensional"),
        (([2**63], [0]), {}, gm.errors.SourceError, "sources[0] is 9223372036854775808"),
        (([0], [1]), {"node_ids": [1, "a"]}, TypeError, "node_ids[0] is 1; ids are all"),
        (([0], [1]), {"node_ids": [0, 2**64]}, gm.errors.SourceError, "node_ids[1] is"),
        (3.0, {}, TypeError, "edges cannot be taken from a float; supported are arrays"),
        ("no such edges.csv", {}, FileNotFoundError, "no such edges.csv"),
    ],
)
def test_refusals(source, options, error, message, tmp_path):
    with pytest.raises(error, match=re.escape(message)):
        gm.compile_graph(source, tmp_path / "g.gl", **options)
    assert list(tmp_path.iterdir()) == []


def test_first_bad_edge_is_named_whatever_the_threads(tmp_path):
    src = np.zeros(500_000, np.int64)
    src[[400_000, 123_456, 480_000]] = -1
    with pytest.raises(gm.errors.SourceError, match="edge 123456:"):
        gm.compile_graph((src, src + 1), tmp_path / "g.gl")


def test_budget(tmp_path):
    """What cannot be made in pieces: one neighbor list, and the map of ids."""
    with pytest.raises(gm.errors.BudgetError, match=r"node 0 has 2000000 neighbors, .* memory="):
        gm.compile_graph(np.zeros((2, 2_000_000), int), tmp_path / "g.gl", memory="64MiB")
    numbers = np.arange(2_000_000)
    with pytest.raises(
        MemoryError, match=r"a map of .* ids takes .* it may take half of memory=, which is 32"
    ):
        gm.compile_graph((numbers, numbers), tmp_path / "g.gl", ids="map", memory="64MiB")
    assert list(tmp_path.iterdir()) == []


def test_a_lone_huge_id(tmp_path):
    with pytest.raises(gm.errors.SourceError, match=r"node id 999999999999 .* pass num_nodes= if"):
        gm.compile_graph(([0], [10**12 - 1]), tmp_path / "g.gl")
    assert list(tmp_path.iterdir()) == []
    report = gm.compile_graph(([0], [10**12 - 1]), tmp_path / "g.gl", ids="map")
    assert report.num_nodes == 2


def test_names_that_numpy_would_change(tmp_path):
    """Strings of NumPy lose trailing null characters and are all as long as the longest."""
    names = ["a", "a\0", "b" * 4000]
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=names)
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1, 2]) == names


def test_hub(tmp_path):
    """A bucket too large for the sort that needs a second copy."""
    generator = np.random.default_rng(9)
    dst = np.where(generator.random(1_500_000) < 0.9, 7, generator.integers(0, 100, 1_500_000))
    src = generator.integers(0, 100_000, 1_500_000)
    for options in ({}, {"weights": generator.random(1_500_000)}):
        gm.compile_graph((src, dst), tmp_path / "g.gl", **options)
        graph = gm.Graph(tmp_path / "g.gl")
        order = np.lexsort((np.arange(len(src)), src, dst))
        assert np.array_equal(graph.indices, src[order])
        if options:
            weights = options["weights"].astype(np.float32)
            assert np.array_equal(graph.weights, weights[order])
        assert gm.verify(tmp_path / "g.gl").ok


def test_few_edges_among_many_nodes(tmp_path):
    gm.compile_graph(([0, 9_999_999], [9_999_999, 5]), tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.neighbors(9_999_999).tolist() == [0]
    assert graph.neighbors(9_999_999, direction="out").tolist() == [5]
    assert graph.degree().sum() == 2


def test_wide_indices(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", index_dtype="int64")
    assert gm.Graph(tmp_path / "g.gl").indices.dtype == np.int64


def test_nodes_beyond_int32_get_wide_indices(tmp_path):
    """Without making such a file: the rule is in the estimate and in the header check."""
    with pytest.raises(ValueError, match="index_dtype='int32' cannot hold the ids of 2147483649"):
        gm.compile_graph(([0], [2**31]), tmp_path / "g.gl", index_dtype="int32", memory="1TiB")


def test_empty_columns_are_kept(tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", num_nodes=2, weights=[], timestamps=[])
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.has_weights
    assert graph.has_timestamps
    assert graph.weights.dtype == np.float32


@pytest.mark.parametrize("num_edges", [1, 3_000_000])
def test_progress(num_edges, tmp_path):
    """In thousandths, of which reading has the first half; large graphs are told of in between."""
    edges = np.random.default_rng(4).integers(0, 1000, (2, num_edges))
    calls = []
    report = gm.compile_graph(
        edges, tmp_path / "g.gl", memory="64MiB", progress=lambda *call: calls.append(call)
    )
    assert calls[-1] == (1000, 1000)
    assert {total for _, total in calls} == {1000}
    steps = [done for done, _ in calls]
    assert steps == sorted(steps)
    assert 500 in steps
    if num_edges > 1:
        assert report.spilled_bytes > 0
        assert sum(step < 500 for step in steps) > 2
        assert sum(500 < step < 1000 for step in steps) > 5

    for when in (500, 1000):

        def stop(done, _total, when=when):
            if done >= when:
                raise KeyboardInterrupt

        before = (tmp_path / "g.gl").read_bytes()
        with pytest.raises(KeyboardInterrupt):
            gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=5000, progress=stop)
        assert (tmp_path / "g.gl").read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["g.gl"]


def test_edge_features_in_edge_id_order(tmp_path):
    """What source_rows is for: any column of the source, brought into the order of edge ids."""
    src, dst, size = np.array([3, 0, 1]), np.array([1, 1, 0]), np.array([30, 0, 10])
    gm.compile_graph((src, dst), tmp_path / "g.gl", source_rows=True)
    graph = gm.Graph(tmp_path / "g.gl")
    by_edge_id = size[graph.neighbor_lists("in").source_rows]
    assert by_edge_id.tolist() == [10, 0, 30]
    outgoing = graph.neighbor_lists("out")
    assert by_edge_id[outgoing.edge_ids].tolist() == [0, 10, 30]
