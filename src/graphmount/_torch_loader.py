"""The loader for PyTorch: the same batches, as tensors over the same memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount.loader import NeighborLoader as ArrayLoader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from graphmount.batch import Batch

__all__ = ["NeighborLoader", "TensorBatch"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorBatch:
    """One batch of `graphmount.torch.NeighborLoader`: what `Batch` has, as CPU tensors.

    Attributes:
        nodes: The node of each number, seeds first.
        edge_index: Numbers of the sources and of the destinations of the edges: (2, edges).
        edge_ids: Ids of the edges.
        batch: The place of the seed whose tree a node belongs to, if sampling is disjoint.
        num_sampled_nodes: Seeds, then new nodes of each hop.
        num_sampled_edges: Edges of each hop; None where edges are not in the order of hops.
        features: For each table, the rows of `nodes`.
        edge_features: For each table of edges, the rows of `edge_ids`.
        labels: The labels of the seeds, or None.
        input_ids: The places of the seeds in `input_nodes`.
        number: The place of the batch in its epoch.
        epoch: The epoch, from 0 on.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
        >>> batch.nodes, batch.edge_index
        (tensor([0, 1, 2]), tensor([[1, 2],
                [0, 0]]))
    """

    nodes: torch.Tensor
    edge_index: torch.Tensor
    edge_ids: torch.Tensor
    batch: torch.Tensor | None
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...] | None
    features: Mapping[str, torch.Tensor]
    edge_features: Mapping[str, torch.Tensor]
    labels: torch.Tensor | None
    input_ids: torch.Tensor
    number: int
    epoch: int

    @property
    def batch_size(self) -> int:
        """How many of the nodes, at the front, are seeds."""
        return self.num_sampled_nodes[0]


class NeighborLoader(ArrayLoader):
    """`graphmount.NeighborLoader` with tensors: same arguments, same batches.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset("four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x})
        >>> loader = gm.torch.NeighborLoader(gm.Dataset("four"), [2], batch_size=4)
        >>> next(iter(loader)).features["x"].dtype
        torch.float32
    """

    def __iter__(self) -> Iterator[TensorBatch]:  # type: ignore[override]
        return map(self._to_tensors, super().__iter__())

    def _rows(self, rows: NDArray[Any], name: str, tables: Mapping[str, Any]) -> torch.Tensor:
        if tables[name].dtype == "bfloat16":
            return torch.from_numpy(rows.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(rows)

    def _to_tensors(self, batch: Batch) -> TensorBatch:
        data = self._data
        return TensorBatch(
            nodes=torch.from_numpy(batch.nodes),
            edge_index=torch.stack([torch.from_numpy(batch.row), torch.from_numpy(batch.col)]),
            edge_ids=torch.from_numpy(batch.edge_ids),
            batch=None if batch.batch is None else torch.from_numpy(batch.batch),
            num_sampled_nodes=batch.num_sampled_nodes,
            num_sampled_edges=batch.num_sampled_edges,
            features={
                name: self._rows(rows, name, data.features) for name, rows in batch.features.items()
            },
            edge_features={
                name: self._rows(rows, name, data.edge_features)
                for name, rows in batch.edge_features.items()
            },
            labels=None if batch.labels is None else torch.from_numpy(np.asarray(batch.labels)),
            input_ids=torch.from_numpy(np.ascontiguousarray(batch.input_ids)),
            number=batch.number,
            epoch=batch.epoch,
        )
