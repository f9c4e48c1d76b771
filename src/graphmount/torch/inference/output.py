"""What a layer gives for all nodes of a type, block by block, as a `.gd` file in their order.

The file appears complete or not at all. What does not fit its dtype is an error, not an infinity.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import torch

from graphmount import _core
from graphmount._support.conversion import convert, dtype_name
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._support.conversion import DTypeName


class LayerOutput:
    """The file that a layer is written to.

    Args:
        name: What the layer is called in messages.
        path: The file.
        num_rows: How many nodes there are.
        order: The fingerprint of their order.
        dtype: How to store floats; as they are if None.
        given: What the layer gave for the first block: it says how many columns there are.
    """

    def __init__(
        self,
        name: str,
        path: str,
        *,
        num_rows: int,
        order: int,
        dtype: DTypeName | None,
        given: object,
    ) -> None:
        self._name = name
        given = _require_rows(name, given)
        self._columns = given.shape[1:]
        is_given = dtype is None or not given.dtype.is_floating_point
        self._dtype = dtype_name(given.dtype if is_given else dtype)
        self.writer = _core.FeatureWriter(
            os.fsencode(path),
            dtype=self._dtype,
            rows=num_rows,
            columns=given.shape[1] if given.ndim == 2 else 1,
            one_dimensional=given.ndim == 1,
            order=order,
        )

    def append(self, given: object, num_targets: int, first_row: int) -> None:
        """Writes the first `num_targets` rows, which are those of the nodes from `first_row` on."""
        from graphmount.torch import to_numpy

        given = _require_rows(self._name, given)
        if given.shape[1:] != self._columns:
            raise ValueError(
                f"{self._name} gave rows of shape {tuple(given.shape[1:])} for the block from node "
                f"{first_row} on, and of {tuple(self._columns)} before"
            )
        if len(given) < num_targets:
            raise ValueError(
                f"{self._name} gave {len(given)} rows for {num_targets} nodes; give one for each "
                "node of the block, or for the first num_targets"
            )
        rows, kind = to_numpy(given[:num_targets])
        try:
            stored = convert(rows, kind, self._dtype, first_row)
        except SourceError as error:
            raise SourceError(f"{self._name}, {error}") from None
        self.writer.append(np.ascontiguousarray(stored).reshape(-1).view(np.uint8))


def _require_rows(name: str, given: object) -> torch.Tensor:
    """What a layer gave, if it is rows.

    Raises:
        ValueError: It is something else.
    """
    if not isinstance(given, torch.Tensor) or given.ndim not in (1, 2):
        shape = tuple(given.shape) if isinstance(given, torch.Tensor) else type(given).__name__
        raise ValueError(f"{name} gave {shape}, not a tensor of one or two dimensions")
    return given
