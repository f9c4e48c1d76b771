"""Ids that cannot be confused, with tensors: loaders, batches, gathers, walks and PyG's loaders."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
import graphmount.torch  # noqa: E402

NUM_NODES = 60
TRAIN = torch.tensor([3, 50, 8, 41, 17])
MASK = torch.zeros(NUM_NODES, dtype=torch.bool).index_fill(0, TRAIN, True)
BOTH_READINGS = r"ids of the source or of the dataset.*external.*internal"


@pytest.fixture(scope="module")
def edges():
    return torch.from_numpy(np.random.default_rng(5).integers(0, NUM_NODES, (2, 400)))


@pytest.fixture(scope="module")
def reordered(tmp_path_factory, edges):
    path = tmp_path_factory.mktemp("ids") / "hot"
    gm.compile_dataset(
        path,
        edges=tuple(edges.numpy()),
        features={"x": np.arange(NUM_NODES, dtype=np.float32)[:, None]},
        splits={"train": TRAIN.numpy()},
    )
    return gm.Dataset(path)


def test_tensors_and_masks_are_refused(reordered):
    for nodes in (TRAIN, MASK):
        with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
            gm.torch.NeighborLoader(reordered, [2], input_nodes=nodes)


def test_batches_know_whose_ids_they_hold(reordered):
    loader = gm.torch.NeighborLoader(
        reordered, [2], input_nodes=TRAIN, ids="external", batch_size=5
    )
    batch = next(iter(loader))
    assert batch.features["x"][:5, 0].tolist() == TRAIN.tolist()
    rows = gm.torch.gather(reordered.features["x"], batch.nodes)
    assert torch.equal(rows, batch.features["x"])
    again = gm.torch.NeighborLoader(reordered, [2], input_nodes=batch.nodes, batch_size=99)
    assert torch.equal(next(iter(again)).features["x"][: len(rows)], rows)
    for plain in (batch.nodes[:5], batch.nodes.clone(), batch.nodes + 0):
        with pytest.raises(gm.errors.IdError, match=r"to_internal.*as_internal"):
            gm.torch.gather(reordered.features["x"], plain)


def test_walks_start_from_known_nodes(reordered):
    with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
        gm.torch.SkipGramDataset(reordered.graph, 2, window=1, starts=TRAIN)
    walks = gm.torch.SkipGramDataset(
        reordered.graph, 0, window=1, starts=TRAIN, ids="external", batch_size=5
    )
    assert len(walks) == 1
    walks = gm.torch.SkipGramDataset(
        reordered.graph, 3, window=1, starts=TRAIN, ids="external", batch_size=1
    )
    starts = [batch.centers[:1].numpy() for batch in walks]
    assert reordered.to_external(np.concatenate(starts)).tolist() == TRAIN.tolist()


def test_blocks_of_inference_know_their_nodes(reordered, tmp_path):
    seen = []

    def call(layer, block):
        rows = gm.torch.gather(reordered.features["x"], block.nodes)
        seen.append(torch.equal(rows, block.x))
        return layer(block.x)

    gm.torch.layerwise_inference(reordered, [lambda x: 2 * x], out=tmp_path / "twice.gd", call=call)
    assert seen == [True]
    twice = gm.FeatureStore(tmp_path / "twice.gd")
    rows = twice.gather(reordered.to_internal(TRAIN))
    assert rows[:, 0].tolist() == (2 * TRAIN).tolist()
