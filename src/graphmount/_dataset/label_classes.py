"""How many classes labels have that are numbers, as those of nearly all public datasets are.

Labels are read a piece at a time, so that those of a large graph need little memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._mount.mapped_reads import read_rows

if TYPE_CHECKING:
    from graphmount._mount.features import FeatureStore

_ROWS = 1 << 20


def count_classes(store: FeatureStore) -> int:
    """The largest label plus one; of several columns, how many there are.

    Args:
        store: The labels.

    Raises:
        ValueError: A label has a fraction, or is infinite: it is a value, and no class.
    """
    if len(store.shape) > 1 and store.shape[1] > 1:
        return store.shape[1]
    is_plain = store.dtype != "bfloat16" and store.scales is None
    largest = -1
    for first in range(0, len(store), _ROWS):
        count = min(_ROWS, len(store) - first)
        if is_plain:
            labels = read_rows(store, first, count).reshape(-1)
        else:
            labels = store._gather(np.arange(first, first + count), dtype="float64").reshape(-1)  # noqa: SLF001
        if labels.dtype.kind == "f":
            labels = labels[~np.isnan(labels)]
            is_whole = np.isfinite(labels) & (labels == np.floor(labels))
            if not is_whole.all():
                value = labels[np.argmin(is_whole)]
                raise ValueError(
                    f"the labels in {store.path} are values, and no classes: one of them is {value}"
                )
        if len(labels):
            largest = max(largest, int(labels.max()))
    return largest + 1
