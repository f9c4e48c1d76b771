"""A training step on several types of nodes: PyG's layers, made for all types by `to_hetero`.

Rows become narrow first, so that messages are. Types without rows begin with a constant, and learn
what they are from their neighbors.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = ("GraphSAGE", "R-GAT")


class _Layers(torch.nn.Module):
    """Two layers for one kind of nodes, without knowing how wide rows are."""

    def __init__(self, model: str, widths: Sequence[int]) -> None:
        super().__init__()
        nn: Any = importlib.import_module("torch_geometric.nn")

        def layer(size: int) -> Any:  # noqa: ANN401  (PyG has no type information)
            if model == "GraphSAGE":
                return nn.SAGEConv((-1, -1), size)
            return nn.GATConv((-1, -1), size, add_self_loops=False)

        self.narrow = nn.Linear(-1, widths[0])
        self.first, self.second = map(layer, widths)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        """The outputs of all nodes."""
        x = self.narrow(x).relu()
        out: torch.Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return out


class HeteroTraining:
    """A model and its optimizer, from a fixed seed.

    Args:
        model: One of `MODELS`.
        batch: A batch of the loader, which tells types, relations and the width of rows.
        seed_type: The type of the seeds.
        widths: Of the outputs of both layers; the last is how many classes there are.
    """

    def __init__(self, model: str, batch: Any, seed_type: str, widths: Sequence[int]) -> None:  # noqa: ANN401
        torch.manual_seed(0)
        to_hetero = importlib.import_module("torch_geometric.nn").to_hetero
        self._model = to_hetero(_Layers(model, widths), batch.metadata())
        self._seed_type = seed_type
        with torch.no_grad():
            self._outputs(batch)  # layers find out the sizes of rows
        self._optimizer = torch.optim.Adam(self._model.parameters(), lr=0.01)

    def _outputs(self, batch: Any) -> torch.Tensor:  # noqa: ANN401
        rows = {
            name: batch[name].x.float()
            if "x" in batch[name]
            else torch.ones(batch[name].num_nodes, 1)
            for name in batch.node_types
        }
        out: torch.Tensor = self._model(rows, batch.edge_index_dict)[self._seed_type]
        return out[: batch[self._seed_type].batch_size]

    def step(self, batch: Any) -> float:  # noqa: ANN401
        """Trains on one batch. Returns the loss."""
        store = batch[self._seed_type]
        loss = torch.nn.functional.cross_entropy(self._outputs(batch), store.y[: store.batch_size])
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return float(loss.detach())
