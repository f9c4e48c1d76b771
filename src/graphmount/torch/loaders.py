"""The loaders for PyTorch: the same batches, as tensors over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.profiler import record_function

from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.link_loader import LinkNeighborLoader as ArrayLinkLoader
from graphmount._loading.node_loader import NeighborLoader as ArrayLoader
from graphmount.torch.host_pinning import as_pin_memory
from graphmount.torch.tensor_batch import LinkTensorBatch, TensorBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.batch import Batch
    from graphmount._loading.link_batch import LinkBatch
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph

__all__ = ["LinkNeighborLoader", "NeighborLoader"]


class TensorLoader(BatchLoader):
    """What makes a loader of arrays one of tensors: mix it in, in front."""

    def _next(self, pipeline: _core.BatchPipeline) -> _core.LoadedBatch | None:
        with record_function("graphmount.wait"):
            return super()._next(pipeline)

    def _rows(self, rows: NDArray[Any], name: str) -> torch.Tensor:
        if self._dtypes[name] == "bfloat16":
            return torch.from_numpy(rows.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(rows)

    def _tensor_fields(self, batch: Batch) -> dict[str, Any]:
        """What a `TensorBatch` is made of."""
        edge_rows = batch.edge_features.items()
        return {
            "nodes": torch.from_numpy(batch.nodes),
            "edge_index": torch.stack([torch.from_numpy(batch.row), torch.from_numpy(batch.col)]),
            "edge_ids": torch.from_numpy(batch.edge_ids),
            "batch": as_tensor(batch.batch),
            "num_sampled_nodes": batch.num_sampled_nodes,
            "num_sampled_edges": batch.num_sampled_edges,
            "features": {name: self._rows(rows, name) for name, rows in batch.features.items()},
            "edge_features": {name: self._rows(rows, name) for name, rows in edge_rows},
            "labels": as_tensor(batch.labels),
            "input_ids": as_tensor(batch.input_ids),
            "number": batch.number,
            "epoch": batch.epoch,
        }


def as_tensor(array: NDArray[Any] | None) -> torch.Tensor | None:
    """An array, if there is one, as a tensor over its memory."""
    return None if array is None else torch.from_numpy(np.ascontiguousarray(array))


class NeighborLoader(TensorLoader, ArrayLoader):
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
        pins_memory = as_pin_memory(pin_memory)
        ArrayLoader.__init__(self, data, num_neighbors, **options)
        self._pins_memory = pins_memory

    def __iter__(self) -> Iterator[TensorBatch]:  # type: ignore[override]
        return map(self._to_tensors, super().__iter__())

    def _to_tensors(self, batch: Batch) -> TensorBatch:
        with record_function("graphmount.tensors"):
            return TensorBatch(**self._tensor_fields(batch))


class LinkNeighborLoader(TensorLoader, ArrayLinkLoader):
    """`graphmount.LinkNeighborLoader` with tensors: same arguments, same batches.

    Links, labels and times may be tensors as well.

    Args:
        data: See there.
        num_neighbors: See there.
        pin_memory: As for `graphmount.torch.NeighborLoader`, and so are ranges of the profiler.
        options: All other arguments are those of `graphmount.LinkNeighborLoader`.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "g.gl")
        >>> loader = gm.torch.LinkNeighborLoader(
        ...     gm.Graph("g.gl"), [2], neg_sampling="binary", batch_size=2
        ... )
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        pin_memory: bool | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        pins_memory = as_pin_memory(pin_memory)
        ArrayLinkLoader.__init__(self, data, num_neighbors, **options)
        self._pins_memory = pins_memory

    def __iter__(self) -> Iterator[LinkTensorBatch]:  # type: ignore[override]
        return map(self._to_tensors, super().__iter__())

    def _to_tensors(self, batch: LinkBatch) -> LinkTensorBatch:
        with record_function("graphmount.tensors"):
            return LinkTensorBatch(
                **self._tensor_fields(batch),
                edge_label_index=as_tensor(batch.edge_label_index),
                edge_label=as_tensor(batch.edge_label),
                edge_label_time=as_tensor(batch.edge_label_time),
                src_index=as_tensor(batch.src_index),
                dst_pos_index=as_tensor(batch.dst_pos_index),
                dst_neg_index=as_tensor(batch.dst_neg_index),
            )
