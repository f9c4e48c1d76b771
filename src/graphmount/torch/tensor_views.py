"""Tensors over mounted files: writing to them stays in this process, and never ends it.

Torch has no read-only tensors, so their pages are mapped privately: one that is written to becomes
memory of this process. Where the system does not allow that, a warning says so.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tensor_over(view: tuple[NDArray[Any], bool], path: str, *, stacklevel: int) -> torch.Tensor:
    """A tensor over a private view of a file: an array, and whether it is safe to write to it."""
    array, is_writable = view
    if not is_writable:
        warnings.warn(
            f"{path}: the system does not allow a private mapping of this size (see "
            "vm.overcommit_memory and the data limit of this process), so the tensor is read-only "
            "memory: writing to it would end the process. Write to a clone() of it.",
            RuntimeWarning,
            stacklevel=stacklevel + 1,
        )
    return torch.from_numpy(array)
