"""The loaders for PyTorch: the same batches, as tensors over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from torch.profiler import record_function

from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.link_loader import LinkNeighborLoader as ArrayLinkLoader
from graphmount._loading.node_loader import NeighborLoader as ArrayLoader
from graphmount.torch.host_pinning import as_pin_memory
from graphmount.torch.tensor_batch import LinkTensorBatch, TensorBatch, to_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.options import LinkOptions, NodeOptions
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph


class _TensorLoader(BatchLoader):
    """What both loaders have beside their options: batches of tensors, ranges of the profiler."""

    _batch_type: type[TensorBatch]
    _range = record_function

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return self._batch_type(**to_tensors(fields))


class NeighborLoader(_TensorLoader, ArrayLoader):
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

    _batch_type = TensorBatch

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[NodeOptions],
    ) -> None:
        self._pins_memory = as_pin_memory(pin_memory)
        super().__init__(data, num_neighbors, **options)

    def __iter__(self) -> Iterator[TensorBatch]:  # type: ignore[override]
        return self._loop()


class LinkNeighborLoader(_TensorLoader, ArrayLinkLoader):
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

    _batch_type = LinkTensorBatch

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[LinkOptions],
    ) -> None:
        self._pins_memory = as_pin_memory(pin_memory)
        super().__init__(data, num_neighbors, **options)

    def __iter__(self) -> Iterator[LinkTensorBatch]:  # type: ignore[override]
        return self._loop()
