"""Samples by PyG's NeighborSampler, with whatever library it has to do it with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import turn_loop

if TYPE_CHECKING:
    import argparse


def split_hops(
    node: Any,  # noqa: ANN401
    row: Any,  # noqa: ANN401
    col: Any,  # noqa: ANN401
    *,
    num_seeds: int,
    num_hops: int,
) -> dict[str, Any]:
    """The edges of each hop, which not every sampler of PyG's says.

    Nodes are numbered as they are met, and edges come hop by hop: those of a hop end where one has
    a target that was met in this hop itself.
    """
    shown, first, num_nodes = {}, 0, num_seeds
    for hop in range(num_hops):
        later = (col >= num_nodes).nonzero()[0]
        end = int(later[0]) if len(later) else len(col)
        shown[f"neighbors{hop}"] = node[row[first:end]]
        shown[f"nodes{hop}"] = node[col[first:end]]
        num_nodes = max(num_nodes, int(row[first:end].max(initial=-1)) + 1)
        first = end
    return shown


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
        sample, num_seeds = self._sample(), self._seeds.shape[1]
        arrays = [part.numpy() for part in (sample.node, sample.row, sample.col)]
        return split_hops(*arrays, num_seeds=num_seeds, num_hops=len(self._fanouts))


if __name__ == "__main__":
    turn_loop.main(Sampling)
