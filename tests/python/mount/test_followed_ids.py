"""Ids of files that are followed are checked first: forged files, and tables that are too short."""

from __future__ import annotations

import numpy as np
import pytest
from forge import Forgery

import graphmount as gm
from graphmount._loading.inputs import LoaderData

OUT = 2  # the number of the direction in files
NUM_EDGES = 300


@pytest.fixture
def forged(graph_path):
    """The graph of `graph_path` with one edge id of the out lists changed, checksums and all."""

    def change(value, **options):
        forgery = Forgery(graph_path)
        forgery.set_item(forgery.find("edge_ids", OUT), 7, value)
        forgery.repair_chunks()
        return gm.Graph(forgery.save(), **options)

    return change


@pytest.fixture
def edge_rows(tmp_path):
    gm.compile_features(np.arange(NUM_EDGES * 4).reshape(-1, 4), tmp_path / "e.gd", dtype="float32")
    return gm.FeatureStore(tmp_path / "e.gd")


@pytest.mark.parametrize("value", [-1, NUM_EDGES, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("reads", ["fault", "batch"])
def test_edge_ids_beyond_the_edges_are_refused(value, reads, forged, edge_rows):
    graph = forged(value, reads=reads)
    message = rf"edge id at position 7 of the lists \(out\) is {value} in a graph of 300 edges"
    every = np.arange(graph.num_nodes)
    with pytest.raises(gm.errors.FormatError, match=message):
        graph.sample_neighbors(every, [-1], direction="out")
    with pytest.raises(gm.errors.FormatError, match=message):
        graph.sample_neighbors(every, [-1], direction="out", subgraph_type="induced")
    for memory in (0, 1 << 20):
        loader = gm.NeighborLoader(
            graph, [-1], edge_features={"e": edge_rows}, direction="out", memory=memory
        )
        with pytest.raises(gm.errors.FormatError, match=message):
            list(loader)
    # The other direction numbers the edges, and has no ids that could be wrong.
    assert len(graph.sample_neighbors(every, [-1]).edge_ids) == NUM_EDGES


@pytest.mark.parametrize("memory", [0, 4096, 1 << 20])
@pytest.mark.parametrize("reader", ["mapped", "pread", "auto"])
def test_a_table_with_too_few_rows(memory, reader, graph_path, tmp_path):
    """As a dataset has it whose files were mixed up; opening by other ways is refused at once."""
    gm.compile_features(np.ones((20, 3), np.float32), tmp_path / "short.gd")
    short, graph = gm.FeatureStore(tmp_path / "short.gd"), gm.Graph(graph_path)
    for space in ("nodes", "edges"):
        data = LoaderData(graph=graph, tables={space: {"x": short}})
        loader = gm.NeighborLoader(data, [-1], memory=memory, reader=reader, batch_size=50)
        with pytest.raises(gm.errors.IdError, match=rf"short.gd: row \d+ .* fewer rows .* {space}"):
            list(loader)


def test_rows_of_a_good_file_are_all_written(graph_path, edge_rows):
    """All of a batch's rows are there, from whatever part of the cache they come."""
    graph = gm.Graph(graph_path)
    for memory in (0, 2048, 1 << 20):
        loader = gm.NeighborLoader(
            graph, [-1], edge_features={"e": edge_rows}, direction="out", memory=memory
        )
        for batch in loader:
            expected = np.arange(4) + 4 * batch.edge_ids[:, None]
            np.testing.assert_array_equal(batch.edge_features["e"], expected)
