"""What `store[...]` means: rows by number, by ids, by a mask or by a slice, and columns of them.

Every index means what it means in NumPy, or is an error. Integers that may be ids of the source of
a reordered dataset are refused as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.node_ids import is_several, order_of, require_marked
from graphmount._support.arguments import as_id, as_plain
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._mount.features import FeatureStore


#: What messages advise for a mask that may go by ids of the source.
_ADVICE = (
    "pass ds.to_internal(numpy.flatnonzero(mask)) of a mask of the source, or a mask that compares "
    "rows of this dataset, as in ds.labels == 3"
)


def rows_at(store: FeatureStore, index: Any) -> Any:  # noqa: ANN401
    """`store[index]`.

    Raises:
        IdError: A row does not exist; or it is not known whose ids these are.
        TypeError, ValueError: It is no index of rows, or a mask of another length.
    """
    rows, columns = _parts(store, index)
    if isinstance(rows, slice) or rows is Ellipsis:
        whole = rows is Ellipsis or rows == slice(None)
        view = store.numpy() if whole else store.numpy()[rows]
        if not columns:
            return view
        picked = view[:, columns[0]]
        return store._mark_rows(picked) if whole else picked  # noqa: SLF001  (a friend)
    if not is_several(rows) and np.ndim(rows) == 0:
        found = store._gather(np.array([as_id(rows, "a row")]))[0]  # noqa: SLF001  (a friend)
        return found[columns[0]] if columns else found
    found = store._gather(_as_rows(store, rows))  # noqa: SLF001
    return found[:, columns[0]] if columns else found


def _parts(store: FeatureStore, index: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401
    """The index of rows, and that of columns if there is one."""
    rows, *columns = index if isinstance(index, tuple) and index else (index,)
    if rows is None or isinstance(rows, str | bytes | tuple):
        raise TypeError(
            f"an index of rows is an integer, a slice, ids or a mask, not {shown(index)}"
        )
    if len(columns) > len(store.shape) - 1:
        raise IndexError(f"{len(columns) + 1} indices for a table of shape {store.shape}")
    for each in columns:
        if not isinstance(each, slice) and (
            isinstance(each, bool) or not hasattr(each, "__index__")
        ):
            raise TypeError(
                f"an index of columns is an integer or a slice, not {shown(each)}; pick rows "
                "first, and columns of the result"
            )
    return rows, tuple(columns)


def _as_rows(store: FeatureStore, index: Any) -> NDArray[np.int64]:  # noqa: ANN401
    """Ids, or the places of a mask, as rows of the file."""
    mask = as_plain(index, "an index of rows")
    if mask.dtype != np.bool_:
        return store._as_nodes(index, "an index of rows")  # noqa: SLF001
    if mask.shape != (len(store),):
        raise ValueError(
            f"a mask of shape {mask.shape} for {len(store)} rows; give one bool for each row"
        )
    order = store.order
    # All or none are the same rows in any order.
    is_telling = bool(mask.any()) and not mask.all()
    is_known = store._own_order == 0 and (order == 0 or order_of(index) == 0)  # noqa: SLF001
    if is_telling and not is_known:
        require_marked(index, "a mask of rows", order, advice=_ADVICE)
    return np.flatnonzero(mask)
