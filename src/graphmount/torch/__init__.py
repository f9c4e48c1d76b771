"""graphmount for PyTorch. Only this module and `graphmount.pyg` import torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError(
        "this needs PyTorch; install it with: pip install 'graphmount[torch]'"
    ) from error

from graphmount._mount.features import FeatureStore
from graphmount._support.arguments import require_type
from graphmount.torch.batches.aggregated_hop import AggregatedHop
from graphmount.torch.batches.layer_matrices import LayerMatrices
from graphmount.torch.batches.sparse import to_sparse_csr
from graphmount.torch.batches.tensor_batch import LinkTensorBatch, TensorBatch
from graphmount.torch.batches.typed_tensor_batch import TypedLinkTensorBatch, TypedTensorBatch
from graphmount.torch.dataset import BatchDataset
from graphmount.torch.inference.blocks import LayerBlock, TypedLayerBlock
from graphmount.torch.inference.layerwise import layerwise_inference
from graphmount.torch.loaders import LinkNeighborLoader, NeighborLoader
from graphmount.torch.ranks.checkpoint import load_checkpoint, save_checkpoint
from graphmount.torch.ranks.group import RankGroup
from graphmount.torch.tensor_views import tensor_over
from graphmount.torch.walks import SkipGramBatch, SkipGramDataset

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.features import Reader

__all__ = [
    "AggregatedHop",
    "BatchDataset",
    "LayerBlock",
    "LayerMatrices",
    "LinkNeighborLoader",
    "LinkTensorBatch",
    "NeighborLoader",
    "RankGroup",
    "SkipGramBatch",
    "SkipGramDataset",
    "TensorBatch",
    "TypedLayerBlock",
    "TypedLinkTensorBatch",
    "TypedTensorBatch",
    "as_tensor",
    "gather",
    "layerwise_inference",
    "load_checkpoint",
    "save_checkpoint",
    "to_numpy",
    "to_sparse_csr",
]


def as_tensor(store: FeatureStore) -> torch.Tensor:
    """The matrix of a mounted file as a tensor over its pages: what `FeatureStore.tensor` returns.

    Args:
        store: The mounted file. It may be closed afterwards; the tensor keeps the mapping.

    Returns:
        A CPU tensor of the file's shape and dtype. Writes to it stay in this process.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="bfloat16")
        >>> gm.torch.as_tensor(gm.FeatureStore("x.gd")).dtype
        torch.bfloat16
    """
    require_type("store", store, FeatureStore, "a mounted FeatureStore")
    return _tensor_over(store)


def _tensor_over(store: FeatureStore) -> torch.Tensor:
    array, is_writable = store._private_view()  # noqa: SLF001  (the other half of this function)
    is_bfloat16 = store.dtype == "bfloat16"
    bits = array.view(np.int16) if is_bfloat16 else array
    # The level is that of the caller of FeatureStore.tensor or as_tensor.
    tensor = tensor_over((bits, is_writable), store.path, stacklevel=3)
    return tensor.view(torch.bfloat16) if is_bfloat16 else tensor


def gather(
    store: FeatureStore,
    ids: torch.Tensor | ArrayLike,
    *,
    out: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
    reader: Reader = "auto",
) -> torch.Tensor:
    """The rows `ids` as a new tensor: `FeatureStore.gather` for torch.

    Args:
        store: The mounted file to read from.
        ids: The rows to return, in any order; a row may appear several times. A tensor must be in
            CPU memory.
        out: A contiguous CPU tensor of the result's shape to put the rows into. It is also the
            result. A new tensor if None.
        dtype: What to convert to. By default the dtype of `out`, or else that of the file.
        reader: "auto" copies from the mapping while the whole file is in memory; otherwise it reads
            with io_uring, or with threads where the system forbids that. "mapped", "uring" and
            "pread" (threads) use that way and no other.

    Returns:
        A CPU tensor.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="bfloat16")
        >>> gm.torch.gather(gm.FeatureStore("x.gd"), torch.tensor([1]))
        tensor([[3., 4.]], dtype=torch.bfloat16)
    """
    require_type("store", store, FeatureStore, "a mounted FeatureStore")
    if out is not None:
        require_type("out", out, torch.Tensor, "a tensor")
    if dtype is not None:
        require_type("dtype", dtype, torch.dtype, "a dtype of torch")
    if isinstance(ids, torch.Tensor) and ids.requires_grad:
        ids = ids.detach()  # they are no integers, which is for the next line to say
    rows = store._as_nodes(ids, "ids")  # noqa: SLF001
    name = str(dtype or (store.dtype if out is None else out.dtype)).removeprefix("torch.")
    if out is None:
        out = torch.empty((len(rows), *store.shape[1:]), dtype=getattr(torch, name))
    elif out.device.type != "cpu" or not out.is_contiguous():
        raise ValueError("out must be a contiguous tensor in memory; torch.empty makes such")
    target, _ = to_numpy(out)
    store._gather(rows, target, dtype=name, reader=reader)  # noqa: SLF001
    return out


def to_numpy(tensor: torch.Tensor) -> tuple[NDArray[np.generic], str]:
    """Turns a tensor into a NumPy array and the name of its dtype; bfloat16 comes as uint16 bits.

    This is how `compile_features` takes tensors, without importing torch itself.

    Args:
        tensor: A tensor on any device. It is detached, and copied to CPU memory if it is elsewhere.

    Returns:
        The array (zero-copy for tensors in memory), and "float32", "bfloat16", …

    Examples:
        >>> import torch
        >>> import graphmount.torch
        >>> graphmount.torch.to_numpy(torch.tensor([1.0], dtype=torch.bfloat16))
        (array([16256], dtype=uint16), 'bfloat16')
    """
    if tensor.device.type == "meta":
        raise TypeError("the tensor is on the device 'meta', so it has no values")
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(np.uint16), "bfloat16"
    try:
        array = tensor.numpy()
    except (TypeError, RuntimeError):  # float8, quantized, conjugated
        raise TypeError(
            f"NumPy has no dtype like that of the tensor, {tensor.dtype}; pass tensor.float(), or "
            "tensor.dequantize() if it is quantized"
        ) from None
    return array, array.dtype.name
