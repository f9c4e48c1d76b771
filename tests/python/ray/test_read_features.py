"""Rows of all nodes as a dataset of Ray Data: each once, with the id that the source gives it."""

from __future__ import annotations

import numpy as np
import pytest
from ray_data import quiet_ray_data

import graphmount as gm
from graphmount.errors import OrderError

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.fixture(scope="module")
def data(cluster):
    """The module ray.data, without bars and messages."""
    del cluster
    return quiet_ray_data()


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """A dataset in hot order, whose nodes have ids of their own."""
    path = tmp_path_factory.mktemp("papers") / "papers"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=(generator.random((2, 900)) ** 3 * 300).astype(np.int64),
        num_nodes=300,
        features={"x": np.arange(600, dtype=np.float32).reshape(300, 2)},
    )
    return path


def test_every_node_once_with_its_id(data, papers, tmp_path):
    del data
    found = gm.ray.read_features(papers, override_num_blocks=3)
    doubled = found.map_batches(lambda batch: {"id": batch["id"], "y": batch["x"][:, 0] * 2})
    doubled.write_parquet(tmp_path / "out")
    table = pq.read_table(tmp_path / "out")
    ids = table["id"].to_numpy()
    assert sorted(ids.tolist()) == list(range(300))
    assert np.array_equal(table["y"].to_numpy(), ids * 4.0)


def test_rows_of_a_file_in_blocks_of_a_bounded_size(data, tmp_path):
    del data
    rows = np.arange(300_000 * 3, dtype=np.float32).reshape(-1, 3)
    gm.compile_features(rows, tmp_path / "x.gd", dtype="bfloat16")
    blocks = gm.ray.read_features(tmp_path / "x.gd", column="row", memory="1MiB").materialize()
    with pytest.raises(ValueError, match="too little"):
        gm.ray.read_features(tmp_path / "x.gd", memory="1000B")
    first = 0
    for bundle in blocks.iter_internal_ref_bundles():
        for entry in bundle.blocks:
            first += entry.metadata.num_rows
            assert entry.metadata.size_bytes < 2 << 20
    assert first == 300_000
    batch = blocks.take_batch(4)
    assert batch["row"].dtype == np.float32
    assert set(batch) == {"id", "row"}


def test_outputs_that_belong_to_other_nodes_are_refused(papers, data, tmp_path):
    del data
    gm.compile_features(np.zeros((300, 1), np.float32), tmp_path / "other.gd")
    with pytest.raises(OrderError):
        gm.ray.read_features(papers, tmp_path / "other.gd")
    with pytest.raises(KeyError, match="y"):
        gm.ray.read_features(papers, "y")
    with pytest.raises(ValueError, match="column='id'"):
        gm.ray.read_features(papers, column="id")
    with pytest.raises(ValueError, match="table= goes with a dataset"):
        gm.ray.read_features(tmp_path / "other.gd", "x")
    with pytest.raises(FileNotFoundError):
        gm.ray.read_features(tmp_path / "nothing.gd")
