"""Batches by PyG's NeighborLoader, with features in a NumPy memmap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import turn_loop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


class Loading:
    def __init__(self, options: argparse.Namespace) -> None:
        import warnings

        import numpy as np
        import torch
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader

        warnings.filterwarnings("ignore")  # that torch-sparse is deprecated is in our report
        folder = options.folder
        indptr = torch.from_numpy(np.load(f"{folder}/indptr.npy"))
        edges = torch.empty((2, int(indptr[-1])), dtype=torch.int64)
        edges[0] = torch.from_numpy(np.load(f"{folder}/indices.npy", mmap_mode="c"))
        edges[1] = torch.arange(len(indptr) - 1).repeat_interleave(indptr.diff())
        features = np.load(f"{folder}/features.npy", mmap_mode="c")
        data = Data(x=features, edge_index=edges, num_nodes=len(indptr) - 1)
        self._loader = NeighborLoader(
            data,
            num_neighbors=np.load(f"{folder}/fanouts.npy").tolist(),
            input_nodes=torch.from_numpy(np.load(f"{folder}/train.npy")),
            batch_size=int(options.batch),
            shuffle=True,
            is_sorted=True,
        )
        self._batches = self._forever()

    def _forever(self) -> Iterator[Any]:
        while True:
            yield from self._loader

    def step(self) -> dict[str, float]:
        batch = next(self._batches)
        return {"rows": len(batch.x), "edges": batch.edge_index.shape[1]}

    def check(self) -> dict[str, Any]:
        import numpy as np

        batch = next(self._batches)
        return {"nodes": batch.n_id.numpy(), "rows": np.asarray(batch.x)}


if __name__ == "__main__":
    turn_loop.main(Loading, needs=("batch",))
