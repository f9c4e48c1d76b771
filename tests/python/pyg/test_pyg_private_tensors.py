"""Tensors of a mounted graph may be written to: the file, and what is sampled, stay as they are."""

from __future__ import annotations

import multiprocessing
import sys
import warnings

import numpy as np
import pytest
from mapped_memory import mapping_of
from run_mode import IS_SANITIZED

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
import graphmount.pyg  # noqa: E402

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("private") / "graph.gl"
    edges = np.random.default_rng(0).integers(0, 40, (2, 200))
    gm.compile_graph(edges, path, index_dtype="int64", source_rows=True)
    return gm.Graph(path)


def passes_in_a_child(check, path):
    """Whether a check ends well in a process of its own, forked: importing PyG takes long."""
    child = multiprocessing.get_context("fork").Process(target=check, args=[path])
    child.start()
    child.join(60)
    is_over = child.exitcode is not None
    child.kill()
    child.join()
    return is_over and child.exitcode == 0


def write_to_all(path):
    """Writes to everything that torch gets of a graph. Read-only memory would end the process."""
    graph = gm.Graph(path)
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


def test_writing_stays_private(graph):
    with open(graph.path, "rb") as file:
        before = file.read()
    assert passes_in_a_child(write_to_all, graph.path)
    with open(graph.path, "rb") as file:
        assert file.read() == before


def test_tensors_that_live_together_share_their_memory(graph):
    store = gm.pyg.GraphStore(graph)
    (row, _, _), (again, _, _) = store.csc(), store.csc()
    assert row.data_ptr() == again.data_ptr()
    assert "rw-p" in mapping_of(row.data_ptr())  # writable and private


def ask_for_too_much(path):
    import resource

    graph = gm.Graph(path)
    store = gm.pyg.GraphStore(graph)
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        row = store.csc()[0]
    assert len(row) == graph.num_edges
    found = {(each.category.__name__, "private mapping" in str(each.message)) for each in caught}
    assert found == {("RuntimeWarning", True)}


def test_where_the_system_refuses_there_is_a_warning(graph):
    if IS_SANITIZED:
        pytest.skip("sanitizers need more memory than the limit of this test")
    assert passes_in_a_child(ask_for_too_much, graph.path)
