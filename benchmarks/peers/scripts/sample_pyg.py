"""Samples by PyG's NeighborSampler, with whatever library it has to do it with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import in_turns

if TYPE_CHECKING:
    import argparse


class Sampling:
    def __init__(self, options: argparse.Namespace) -> None:
        import warnings

        import numpy as np
        import torch
        from torch_geometric.data import Data
        from torch_geometric.sampler import NeighborSampler, NodeSamplerInput

        warnings.filterwarnings("ignore")  # that torch-sparse is deprecated is in our report
        indptr = torch.from_numpy(np.load(f"{options.folder}/indptr.npy"))
        sources = torch.from_numpy(np.load(f"{options.folder}/indices.npy").astype(np.int64))
        targets = torch.arange(len(indptr) - 1).repeat_interleave(indptr.diff())
        data = Data(edge_index=torch.stack([sources, targets]), num_nodes=len(indptr) - 1)
        del sources, targets
        self._fanouts = np.load(f"{options.folder}/fanouts.npy").tolist()
        self._sampler = NeighborSampler(data, num_neighbors=self._fanouts, is_sorted=True)
        del data
        self._seeds = torch.from_numpy(np.load(f"{options.folder}/seeds.npy"))
        self._input = NodeSamplerInput
        self._number = 0

    def _sample(self) -> Any:  # noqa: ANN401
        seeds = self._seeds[self._number % len(self._seeds)]
        self._number += 1
        return self._sampler.sample_from_nodes(self._input(input_id=None, node=seeds))

    def step(self) -> dict[str, float]:
        sample = self._sample()
        return {"nodes": len(sample.node), "edges": len(sample.row)}

    def check(self) -> dict[str, Any]:
        sample, shown, first = self._sample(), {}, 0
        num_nodes = self._seeds.shape[1]
        for hop in range(len(self._fanouts)):
            # Nodes are numbered as they are met, and edges come hop by hop: those of a hop end
            # where their target was met in this hop itself.
            later = (sample.col >= num_nodes).nonzero()
            end = int(later[0]) if len(later) else len(sample.col)
            row, col = sample.row[first:end], sample.col[first:end]
            shown[f"neighbors{hop}"] = sample.node[row].numpy()
            shown[f"nodes{hop}"] = sample.node[col].numpy()
            num_nodes = max(num_nodes, int(row.max()) + 1 if len(row) else 0)
            first = end
        return shown


if __name__ == "__main__":
    in_turns.main(Sampling)
