"""Tensors of a mounted graph may be written to: the file, and what is sampled, stay as they are."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from mapped_memory import mapping_of
from run_mode import IS_SANITIZED

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
import graphmount.pyg  # noqa: E402

# Writes to everything that torch gets of a graph. In a process of its own: read-only memory would
# end it.
WRITE = """
import sys
import graphmount as gm
import graphmount.pyg

graph = gm.Graph(sys.argv[1])
store = gm.pyg.GraphStore(graph)
sampler = gm.pyg.NeighborSampler(graph, [-1], source_rows=True)
before = [graph.sample_neighbors([0, 1], [-1, -1]).nodes.tolist()]
for _ in range(2):
    tensors = [*store.csc()[:2], *store.csr(), sampler.edge_permutation]
    before.append([tensor.tolist() for tensor in tensors])
    for tensor in tensors:
        tensor.fill_(-7)
        assert (tensor == -7).all()
    del tensor, tensors
assert before[1] == before[2], "what was written is forgotten with the last tensor"
assert before[0] == graph.sample_neighbors([0, 1], [-1, -1]).nodes.tolist()
assert graph.indices.min() >= 0
print("alive")
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("private") / "graph.gl"
    edges = np.random.default_rng(0).integers(0, 40, (2, 200))
    gm.compile_graph(edges, path, index_dtype="int64", source_rows=True)
    return gm.Graph(path)


def run(code, *arguments):
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_writing_stays_private(graph):
    with open(graph.path, "rb") as file:
        before = file.read()
    assert run(WRITE, graph.path) == "alive"
    with open(graph.path, "rb") as file:
        assert file.read() == before


def test_tensors_that_live_together_share_their_memory(graph):
    store = gm.pyg.GraphStore(graph)
    (row, _, _), (again, _, _) = store.csc(), store.csc()
    assert row.data_ptr() == again.data_ptr()
    assert "rw-p" in mapping_of(row.data_ptr())  # writable and private


def test_where_the_system_refuses_there_is_a_warning(graph):
    if IS_SANITIZED:
        pytest.skip("sanitizers need more memory than the limit of this test")
    code = """
import resource, sys, warnings
import graphmount as gm
import graphmount.pyg
store = gm.pyg.GraphStore(gm.Graph(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    row = store.csc()[0]
print({(w.category.__name__, "private mapping" in str(w.message)) for w in caught}, len(row))
"""
    assert run(code, graph.path) == f"{{('RuntimeWarning', True)}} {graph.num_edges}"
