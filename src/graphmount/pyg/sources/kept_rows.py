"""Rows of what stays in an object of PyG, as no table holds it: masks, complex numbers, frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.loader.utils import index_select

if TYPE_CHECKING:
    from torch import Tensor

#: What torch has no selection for, by what has the same bytes.
_SAME_BYTES = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


def rows_at(value: Any, ids: Tensor, dim: int) -> Any:  # noqa: ANN401
    """The rows of an attribute at these ids, as PyG's loaders select them.

    Args:
        value: The attribute: a tensor, an array, or a frame of tensors.
        ids: Which rows.
        dim: The dimension that has them.
    """
    if isinstance(value, torch.Tensor) and value.dtype in _SAME_BYTES:
        like = value.view(_SAME_BYTES[value.dtype])
        return index_select(like, ids, dim=dim).view(value.dtype)
    return index_select(value, ids, dim=dim)
