"""Batches by GraphBolt's DataLoader, with features that stay on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import turn_loop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


class Loading:
    def __init__(self, options: argparse.Namespace) -> None:
        import dgl.graphbolt as gb
        import numpy as np
        import torch

        folder = options.folder
        lists = [np.load(f"{folder}/{name}.npy") for name in ("indptr", "indices")]
        graph = gb.fused_csc_sampling_graph(*map(torch.from_numpy, lists))
        seeds = torch.from_numpy(np.load(f"{folder}/train.npy").astype(lists[1].dtype))
        # What OnDiskDataset makes of features that its metadata says are not in memory.
        described = gb.OnDiskFeatureData(
            domain="node",
            type=None,
            name="x",
            format="numpy",
            path=f"{folder}/features.npy",
            in_memory=False,
        )
        store = gb.TorchBasedFeatureStore([described])
        items = gb.ItemSet(seeds, names="seed_nodes")
        pipe = gb.ItemSampler(items, batch_size=int(options.batch), shuffle=True)
        # The last of its fanouts is that of the seeds.
        fanouts = np.load(f"{folder}/fanouts.npy")[::-1].tolist()
        pipe = pipe.sample_neighbor(graph, fanouts)
        pipe = pipe.fetch_feature(store, node_feature_keys=["x"])
        self._loader = gb.DataLoader(pipe, num_workers=0)
        self._batches = self._forever()

    def _forever(self) -> Iterator[Any]:
        while True:
            yield from self._loader

    def step(self) -> dict[str, float]:
        batch = next(self._batches)
        edges = sum(len(hop.sampled_csc.indices) for hop in batch.sampled_subgraphs)
        return {"rows": len(batch.node_features["x"]), "edges": edges}

    def check(self) -> dict[str, Any]:
        batch = next(self._batches)
        return {"nodes": batch.input_nodes.numpy(), "rows": batch.node_features["x"].numpy()}


if __name__ == "__main__":
    turn_loop.main(Loading, needs=("batch",))
