"""How many classes labels have, and how many nodes each: of numbers, as they are stored.

Labels are read a piece at a time, so that those of a large graph need little memory.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.mapped_reads import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._mount.features import FeatureStore

_ROWS = 1 << 20
#: Whole numbers with more different values are values, and no classes.
_MOST_CLASSES = 100_000


def count_classes(store: FeatureStore) -> int:
    """The largest label plus one; of several columns, how many there are.

    Args:
        store: The labels.

    Raises:
        ValueError: A label has a fraction, or is infinite: it is a value, and no class.
    """
    if _has_columns(store):
        return store.shape[1]
    largest = -1
    for labels in _pieces(store):
        is_whole = _is_whole(labels)
        if not is_whole.all():
            value = labels[np.argmin(is_whole)]
            raise ValueError(
                f"the labels in {store.path} are values, and no classes: one of them is {value}"
            )
        if len(labels):
            largest = max(largest, int(labels.max()))
    return largest + 1


def class_counts(store: FeatureStore) -> dict[int, int] | None:
    """How many nodes each label has; NaN is none.

    Args:
        store: The labels.

    Returns:
        The counts by label; None if labels are values, or have several columns.
    """
    if _has_columns(store):
        return None
    counts: Counter[int] = Counter()
    for labels in _pieces(store):
        if not _is_whole(labels).all():
            return None
        found, times = np.unique(labels, return_counts=True)
        counts.update(dict(zip(found.astype(np.int64).tolist(), times.tolist(), strict=True)))
        if len(counts) > _MOST_CLASSES:
            return None
    return dict(counts)


def _has_columns(store: FeatureStore) -> bool:
    return len(store.shape) > 1 and store.shape[1] != 1


def _pieces(store: FeatureStore) -> Iterator[NDArray[Any]]:
    """All labels that are there, some at a time."""
    is_plain = store.dtype != "bfloat16" and store.scales is None
    for first in range(0, len(store), _ROWS):
        count = min(_ROWS, len(store) - first)
        if is_plain:
            labels = read_rows(store, first, count)
        else:
            places = np.arange(first, first + count)
            labels = store._gather(places, dtype="float64")  # noqa: SLF001  (internal ids)
        labels = labels.reshape(-1)
        yield labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels


def _is_whole(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind != "f":
        return np.ones(len(labels), np.bool_)
    is_whole: NDArray[np.bool_] = np.isfinite(labels) & (labels == np.floor(labels))
    return is_whole
