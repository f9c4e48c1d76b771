"""Which nodes PyG asks a store for, in all the forms that it has for that.

An index is checked once for all attributes of a batch. Nodes that do not exist are an error; unlike
in a tensor, a negative number does not count from the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount._support.arguments import as_plain
from graphmount.errors import IdError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NodeIndex:
    """An index as PyG has them: None, a slice, an integer, ids or a mask, as tensor or array."""

    def __init__(self, index: Any, num_nodes: int) -> None:  # noqa: ANN401
        self._slice = slice(None) if index is None else index
        self._num_nodes = num_nodes
        self._is_one = False
        self.ids: NDArray[np.int64] | None = None
        if isinstance(self._slice, slice):
            if self._slice.step not in (None, 1):
                self.ids = np.arange(num_nodes)[self._slice]
            return
        array = index.detach().cpu().numpy() if isinstance(index, torch.Tensor) else index
        array = as_plain(array, "index")
        if array.dtype == np.bool_:
            if array.shape != (num_nodes,):
                raise ValueError(f"a mask of shape {array.shape} for {num_nodes} nodes")
            array = np.flatnonzero(array)
        self._is_one = array.ndim == 0
        self.ids = np.atleast_1d(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is selected of a vector."""
        if self._is_one:
            return ()
        if self.ids is not None:
            return (len(self.ids),)
        return (len(range(*self._slice.indices(self._num_nodes))),)

    def all_ids(self) -> NDArray[np.int64]:
        """The ids that are selected, written out."""
        return np.arange(self._num_nodes)[self._slice] if self.ids is None else self.ids

    def restore(self, rows: torch.Tensor) -> torch.Tensor:
        """Gathered rows as they were asked for: one alone, where one was."""
        return rows[0] if self._is_one else rows

    def of(self, whole: torch.Tensor) -> torch.Tensor:
        """What is selected of a tensor: a part of it, if it lies together."""
        if self.ids is None:
            return whole[self._slice]
        if len(self.ids) and (self.ids.min() < 0 or self.ids.max() >= self._num_nodes):
            wrong = self.ids[(self.ids < 0) | (self.ids >= self._num_nodes)][0]
            raise IdError(
                f"node {wrong} does not exist: nodes are numbered from 0 to {self._num_nodes - 1}"
            )
        return self.restore(whole[torch.from_numpy(self.ids)])
