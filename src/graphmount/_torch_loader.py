"""The loader for PyTorch: the same batches, as tensors over the same memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.profiler import record_function

from graphmount._host_pinning import as_pin_memory
from graphmount.loader import NeighborLoader as ArrayLoader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount.batch import Batch
    from graphmount.dataset import Dataset
    from graphmount.features import FeatureStore
    from graphmount.graph import Graph

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

    def to(self, device: torch.device | str | int) -> TensorBatch:
        """This batch with its tensors on a device. From pinned memory that does not wait.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> batch.to("meta").nodes.device
            device(type='meta')
        """

        def move(value: Any) -> Any:  # noqa: ANN401
            if isinstance(value, dict):
                return {name: move(item) for name, item in value.items()}
            if isinstance(value, torch.Tensor):
                return value.to(device, non_blocking=True)
            return value

        return replace(self, **{name: move(value) for name, value in vars(self).items()})


class NeighborLoader(ArrayLoader):
    """`graphmount.NeighborLoader` with tensors: same arguments, same batches.

    Waiting for a batch and making tensors of it are ranges of `torch.profiler`, by the names
    "graphmount.wait" and "graphmount.tensors".

    Args:
        data: See there.
        num_neighbors: See there.
        pin_memory: Whether the rows of batches lie in memory that a GPU may read by itself, so that
            `batch.to("cuda")` does not wait. If None, they do where torch finds CUDA.
        options: All other arguments are those of `graphmount.NeighborLoader`.

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

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        pin_memory: bool | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(data, num_neighbors, **options)
        self._pins_memory = as_pin_memory(pin_memory)

    def __iter__(self) -> Iterator[TensorBatch]:  # type: ignore[override]
        return map(self._to_tensors, super().__iter__())

    def _next(self, pipeline: _core.BatchPipeline) -> _core.LoadedBatch | None:
        with record_function("graphmount.wait"):
            return super()._next(pipeline)

    def _rows(self, rows: NDArray[Any], name: str) -> torch.Tensor:
        if self._dtypes[name] == "bfloat16":
            return torch.from_numpy(rows.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(rows)

    def _to_tensors(self, batch: Batch) -> TensorBatch:
        with record_function("graphmount.tensors"):
            return self._make_tensors(batch)

    def _make_tensors(self, batch: Batch) -> TensorBatch:
        return TensorBatch(
            nodes=torch.from_numpy(batch.nodes),
            edge_index=torch.stack([torch.from_numpy(batch.row), torch.from_numpy(batch.col)]),
            edge_ids=torch.from_numpy(batch.edge_ids),
            batch=None if batch.batch is None else torch.from_numpy(batch.batch),
            num_sampled_nodes=batch.num_sampled_nodes,
            num_sampled_edges=batch.num_sampled_edges,
            features={name: self._rows(rows, name) for name, rows in batch.features.items()},
            edge_features={
                name: self._rows(rows, name) for name, rows in batch.edge_features.items()
            },
            labels=None if batch.labels is None else torch.from_numpy(np.asarray(batch.labels)),
            input_ids=torch.from_numpy(np.ascontiguousarray(batch.input_ids)),
            number=batch.number,
            epoch=batch.epoch,
        )
