"""compile_graph: sources, options, and what it refuses. Round trips are in test_round_trip.py."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import IS_SANITIZED

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
        (([0, -5], [1, 1]), {}, gm.errors.SourceError, "edge 1: node id -5 is negative"),
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
        (([0, 1], [1]), {}, ValueError, "src has 2 entries and dst has 1"),
        (([0], [1]), {"weights": [1, 2]}, ValueError, "weights has 2 entries for 1 edges"),
        (([0], [1]), {"timestamps": []}, ValueError, "timestamps has 0 entries for 1 edges"),
        (([0], [1]), {"weights": [[1]]}, ValueError, "one-dimensional"),
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
        (([0], [1], [2]), {}, ValueError, "not 3 arrays"),
        (np.zeros((5, 2), int), {}, ValueError, "shape (2, edges), not (5, 2)"),
        (np.zeros(4, int), {}, ValueError, "shape (2, edges), not (4,)"),
        (([0.0], [1.0]), {}, TypeError, "sources must be integers, not float64"),
        (([True], [False]), {}, TypeError, "sources must be integers, not bool"),
        ((["a"], ["b"]), {}, TypeError, "sources must be integers"),
        (([0], [1]), {"weights": ["x"]}, TypeError, "weights must be numbers"),
        (([0], [1]), {"timestamps": [0.5]}, TypeError, "timestamps must be integers"),
        (([0], [1]), {"node_ids": [1.5, 2.5]}, TypeError, "node_ids must be integers"),
        (([0], [1]), {"node_ids": np.array(["a", 3], object)}, TypeError, "all integers or all"),
        (([[0]], [[1]]), {}, ValueError, "one-dimensional"),
        (([2**63], [0]), {}, gm.errors.SourceError, "sources[0] is 9223372036854775808"),
        (([0], [1]), {"node_ids": [1, "a"]}, TypeError, "node_ids[0] is 1; ids are all"),
        (([0], [1]), {"node_ids": [0, 2**64]}, gm.errors.SourceError, "node_ids[1] is"),
        ("edges.csv", {}, TypeError, "is a path"),
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
    with pytest.raises(gm.errors.BudgetError, match=r"needs about .* more than memory=1.0 MiB"):
        gm.compile_graph(np.zeros((2, 100_000), int), tmp_path / "g.gl", memory="1MiB")
    with pytest.raises(MemoryError, match="between 1000000000000 nodes"):
        gm.compile_graph(([0], [10**12 - 1]), tmp_path / "g.gl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers have memory of their own")
@pytest.mark.parametrize(
    "options",
    [
        "",
        "directed=False",
        "weights=np.ones(2_000_000, np.float32), timestamps=np.arange(2_000_000)",
        "dedup=True, source_rows=True",
    ],
)
def test_budget_holds(options, tmp_path):
    """What compiling takes at its peak, besides the source, is within the least budget allowed."""
    code = f"""
import re, sys
import numpy as np
import graphmount as gm
edges = np.random.default_rng(0).integers(0, 500_000, (2, 2_000_000))
options = dict({options})
try:
    gm.compile_graph(edges, sys.argv[1], memory=1, **options)
except gm.errors.BudgetError as error:
    needed = float(re.search("needs about ([0-9.]+) MiB", str(error))[1])
before = gm.memory()
gm.compile_graph(edges, sys.argv[1], memory=f"{{needed + 0.1}}MiB", **options)
peak = gm.memory().peak_bytes - before.anonymous_bytes - before.mapped_bytes
print(needed, peak / 2**20)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "g.gl"], capture_output=True, text=True, check=True
    )
    needed, peak = map(float, result.stdout.split())
    assert needed / 3 < peak < needed


def test_names_that_numpy_would_change(tmp_path):
    """Strings of NumPy lose trailing null characters and are all as long as the longest."""
    names = ["a", "a\0", "b" * 4000]
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=names)
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1, 2]) == names


def test_budget_counts_names(tmp_path):
    names = [f"{'x' * 1000}{i}" for i in range(100_000)]
    with pytest.raises(gm.errors.BudgetError):
        gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=names, memory="200MiB")


def test_budget_counts_copies_of_the_source(tmp_path):
    """Columns that are int64 already are used as they are, in arrays and in tensors."""
    edges = np.zeros((2, 500_000), np.int64)
    sources = {"array": edges, "pair": (edges[0], edges[1])}
    if importlib.util.find_spec("torch") is not None:
        import torch

        sources["tensor"] = torch.from_numpy(edges)
    for source in sources.values():
        gm.compile_graph(source, tmp_path / "g.gl", memory="52MiB")
    with pytest.raises(gm.errors.BudgetError):
        gm.compile_graph(edges.astype(np.int32), tmp_path / "g.gl", memory="52MiB")


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


def test_progress(tmp_path):
    calls = []
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", progress=lambda *call: calls.append(call))
    assert calls == [(step, 6) for step in range(7)]

    def stop(done, _total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gm.compile_graph(([0], [2]), tmp_path / "g.gl", progress=stop)
    assert gm.Graph(tmp_path / "g.gl").num_nodes == 2  # what was there before
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
