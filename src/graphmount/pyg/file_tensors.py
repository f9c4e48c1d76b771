"""Tensors over parts of a mounted graph. They are the file, and must not be written to.

The views of a graph are read-only memory, and torch has no tensors that know this: writing to one
would end the process. PyG only reads them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tensor_over"]


def tensor_over(section: NDArray[Any]) -> torch.Tensor:
    """A tensor over a part of the file."""
    with warnings.catch_warnings():
        # torch has no read-only tensors, and says so.
        warnings.filterwarnings("ignore", message=".*not writable", category=UserWarning)
        return torch.from_numpy(section)
