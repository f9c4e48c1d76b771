"""Samples by GraphBolt: hop by hop, made compact after each, as its own loader does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import turn_loop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


class Sampling:
    def __init__(self, options: argparse.Namespace) -> None:
        import dgl.graphbolt as gb
        import numpy as np
        import torch

        self._compact = gb.unique_and_compact_csc_formats
        lists = [np.load(f"{options.folder}/{name}.npy") for name in ("indptr", "indices")]
        self._graph = gb.fused_csc_sampling_graph(*map(torch.from_numpy, lists))
        self._seeds = torch.from_numpy(
            np.load(f"{options.folder}/seeds.npy").astype(lists[1].dtype)
        )
        fanouts = np.load(f"{options.folder}/fanouts.npy").tolist()
        self._fanouts = [torch.tensor([fanout]) for fanout in fanouts]
        self._number = 0

    def _hops(self) -> Iterator[tuple[Any, Any, Any]]:
        """Of each hop: the nodes sampled from, the lists drawn, and all nodes so far."""
        nodes = self._seeds[self._number % len(self._seeds)]
        self._number += 1
        for fanout in self._fanouts:
            drawn = self._graph.sample_neighbors(nodes, fanout).sampled_csc
            met, _ = self._compact(drawn, nodes)
            yield nodes, drawn, met
            nodes = met

    def step(self) -> dict[str, float]:
        hops = list(self._hops())
        edges = sum(len(drawn.indices) for _, drawn, _ in hops)
        return {"nodes": len(hops[-1][2]), "edges": edges}

    def check(self) -> dict[str, Any]:
        shown = {}
        for hop, (nodes, drawn, _) in enumerate(self._hops()):
            shown[f"neighbors{hop}"] = drawn.indices.numpy()
            shown[f"nodes{hop}"] = nodes.repeat_interleave(drawn.indptr.diff()).numpy()
        return shown


if __name__ == "__main__":
    turn_loop.main(Sampling)
