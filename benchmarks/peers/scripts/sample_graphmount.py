"""Samples by graphmount, measured in the same way as its peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import turn_loop

if TYPE_CHECKING:
    import argparse


class Sampling:
    def __init__(self, options: argparse.Namespace) -> None:
        import numpy as np

        import graphmount as gm

        self._graph = gm.Graph(f"{options.folder}/graph.gl")
        self._seeds = np.load(f"{options.folder}/seeds.npy")
        self._fanouts = np.load(f"{options.folder}/fanouts.npy").tolist()
        self._graph.advise("populate")
        self._number = 0

    def _sample(self) -> Any:  # noqa: ANN401
        seeds = self._seeds[self._number % len(self._seeds)]
        self._number += 1
        return self._graph.sample_neighbors(seeds, self._fanouts, seed=self._number)

    def step(self) -> dict[str, float]:
        sample = self._sample()
        return {"nodes": sample.num_nodes, "edges": sample.num_edges}

    def check(self) -> dict[str, Any]:
        sample, shown, first = self._sample(), {}, 0
        for hop, count in enumerate(sample.num_sampled_edges):
            part = slice(first, first + count)
            shown[f"neighbors{hop}"] = sample.nodes[sample.row[part]]
            shown[f"nodes{hop}"] = sample.nodes[sample.col[part]]
            first += count
        return shown


if __name__ == "__main__":
    turn_loop.main(Sampling)
