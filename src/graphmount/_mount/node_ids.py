"""Arrays with a mark: ids that know their dataset, and rows that take only ids of their dataset.

A dataset may number its nodes in another order than its source. A plain integer does not say which
of the two numbers it is. So ids that such a dataset returns are marked with the order of its nodes,
and ids that are passed to it must have the mark, or the caller says which kind they are. Indexing
keeps the mark; copies and results of calculations are plain arrays again.

The order of a node type, among several, includes its name, so the mark says which type ids are of.
Where such a type has the order of its source, plain integers are taken too: they mean one thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._support.arguments import as_plain
from graphmount.errors import IdError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: How integers that are not marked are to be read: as ids of the dataset, or of its source.
IdReading = Literal["internal", "external"]

#: What a tensor has for its mark. No operation of torch hands it on.
TENSOR_MARK = "_graphmount_order"


class NodeIds(np.ndarray[Any, np.dtype[np.int64]]):
    """Internal ids of nodes of one dataset: what its splits, `to_internal` and its batches give.

    They are an int64 array like any other, with a mark that says which dataset they belong to. All
    calls of that dataset take them without `ids=`, which plain integers would need; another dataset
    refuses them. Indexing them gives `NodeIds` again. Copies (`ids.copy()`, `numpy.array(ids)`, a
    pickle), tensors made from them and results of calculations have no mark. If you write into
    them, write internal ids.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset("known", edges=([3, 3, 1], [0, 1, 2]), splits={"train": [0, 3]})
        >>> ds = gm.Dataset("known")
        >>> ds.splits["train"]
        NodeIds([2, 0])
        >>> ds.splits["train"][:1].order == ds.graph.order, ds.splits["train"].copy().order
        (True, 0)
    """

    _order = 0

    @property
    def order(self) -> int:
        """The fingerprint of the dataset's order of nodes; 0 if these have no mark."""
        return self._order

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        picked = super().__getitem__(key)
        return _marked(picked, NodeIds, self.order) if isinstance(picked, np.ndarray) else picked

    def __iter__(self) -> Iterator[Any]:
        return super().__iter__() if self.ndim == 1 else (self[i] for i in range(len(self)))

    def reshape(self, *shape: Any, **options: Any) -> Any:  # noqa: ANN401
        """The same ids in another shape, marked as before.

        Args:
            shape: The new shape, as NumPy's `reshape` takes it.
            options: Options of NumPy's `reshape`, such as `order`.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("walked", edges=([3, 3, 1], [0, 1, 2]))
            >>> ds = gm.Dataset("walked")
            >>> walks = ds.graph.random_walk(ds.to_internal([0, 3]), 2)
            >>> walks.reshape(-1).order == ds.graph.order
            True
        """
        return _marked(super().reshape(*shape, **options), NodeIds, self.order)

    def __repr__(self) -> str:
        return super().__repr__() if self.order != 0 else repr(self.view(np.ndarray))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = False) -> Any:  # noqa: ANN401
        return array[()] if return_scalar else _plain(array)


class NodeRows(np.ndarray[Any, np.dtype[Any]]):
    """Rows of a reordered dataset, one for each node: its labels, or a table by `numpy()`.

    They are an array like any other, with one difference: they refuse plain integers, and masks
    that do not come from the dataset, as an index, because these may go by ids of the source. They
    take `NodeIds`, slices, single integers (which count as internal ids), and masks made by
    comparing these rows with something, such as `labels == 3`. The result is a plain array.

    Rows of one node type among several refuse ids of another type, also where the type has the
    order of its source and plain integers are taken.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset("rows", edges=([3, 3, 1], [0, 1, 2]), labels=[5, 6, 7, 8])
        >>> labels = gm.Dataset("rows").labels
        >>> labels[gm.Dataset("rows").to_internal([0, 3])], labels[labels > 6]
        (array([5, 8]), array([8, 7]))
        >>> labels[[0, 3]]
        Traceback (most recent call last):
            ...
        graphmount.errors.IdError: an index of rows: integers and masks can go by ids of...
    """

    _order = 0
    _takes_plain = False

    @property
    def order(self) -> int:
        """The fingerprint of the dataset's order of nodes; 0 if these have no mark."""
        return self._order

    def __repr__(self) -> str:
        return super().__repr__() if self.order != 0 else repr(self.view(np.ndarray))

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        self._require_marked(_part_for_rows(key, self.ndim))
        return _plain(super().__getitem__(key))

    def take(  # type: ignore[override]  # NumPy has five forms of it
        self,
        indices: Any,  # noqa: ANN401
        axis: Any = None,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Takes rows by their ids, which must be marked; other axes work as in NumPy.

        Args:
            indices: The rows to take. Along the first axis they must be marked as ids of the
                dataset (`NodeIds`).
            axis: The axis to take from, as NumPy's `take` has it.
            options: Options of NumPy's `take`, such as `out` and `mode`.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("taken", edges=([3, 3, 1], [0, 1, 2]), labels=[5, 6, 7, 8])
            >>> ds = gm.Dataset("taken")
            >>> ds.labels.take(ds.to_internal([0, 3]))
            array([5, 8])
        """
        if axis in (0, -self.ndim) or self.ndim == 1:
            self._require_marked(indices)
        return _plain(super().take(indices, axis, **options))

    def _require_marked(self, index: Any) -> None:  # noqa: ANN401
        """Raises if this index may be ids of the source. What is no index at all, NumPy refuses."""
        if self.order == 0 or isinstance(index, slice) or not is_several(index):
            return
        if self._takes_plain and order_of(index) == 0:
            return
        plain = as_plain(index, "an index of rows")
        if plain.dtype == np.bool_ and (plain.all() or not plain.any()):
            return  # all or none: that is the same in any order
        if plain.dtype.kind in "iub":
            require_marked(index, "an index of rows", self.order)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = False) -> Any:  # noqa: ANN401
        if return_scalar:
            return array[()]
        # Values in another order, or a mask of the source, make no mask of the dataset.
        others = context[1] if context is not None else ()
        is_of_these = all(np.ndim(other) == 0 or order_of(other) == self.order for other in others)
        is_mask = array.dtype == np.bool_ and array.shape == self.shape
        if not is_mask or not is_of_these:
            return _plain(array)
        return mark_rows(array, self.order, takes_plain=self._takes_plain)


def _plain(array: Any) -> Any:  # noqa: ANN401
    return array.view(np.ndarray) if isinstance(array, np.ndarray) else array


def _part_for_rows(key: Any, ndim: int) -> Any:  # noqa: ANN401
    """Of an index, the part that picks rows: it need not be the first."""
    if not isinstance(key, tuple):
        return key
    left = sum(part is not None and part is not Ellipsis for part in key)
    for part in key:
        if part is Ellipsis and left < ndim:
            return slice(None)
        if part is not None and part is not Ellipsis:
            return part
    return slice(None)


def _marked(array: NDArray[Any], kind: type[Any], order: int) -> Any:  # noqa: ANN401
    view = array.view(kind)
    view._order = order  # noqa: SLF001  (a friend)
    return view


def mark_ids(ids: NDArray[np.int64], order: int) -> NDArray[np.int64]:
    """Internal ids of a dataset of this order; as they are, if it is that of the source."""
    marked: NDArray[np.int64] = ids if order == 0 else _marked(ids, NodeIds, order)
    return marked


def mark_rows(rows: NDArray[Any], order: int, *, takes_plain: bool = False) -> NDArray[Any]:
    """Rows of all nodes of a dataset of this order; as they are, if it is that of the source.

    Args:
        rows: The rows.
        order: The order.
        takes_plain: Whether plain integers mean one thing only, and are taken as an index.
    """
    if order == 0:
        return rows
    marked: NodeRows = _marked(rows, NodeRows, order)
    marked._takes_plain = takes_plain  # noqa: SLF001  (a friend)
    return marked


def order_of(values: object) -> int:
    """The mark of ids, of a mask or of a tensor; 0 if there is none."""
    if isinstance(values, NodeIds | NodeRows):
        return values.order
    return getattr(values, TENSOR_MARK, 0)


def is_several(values: object) -> bool:
    """Whether these are ids in a list, an array or a tensor. One alone, or none, is no mistake."""
    return not isinstance(values, str) and getattr(values, "ndim", 1) > 0 and _length(values) > 0


def _length(values: Any) -> int:  # noqa: ANN401
    return len(values) if hasattr(values, "__len__") else 0


def refuse_marked(values: object, name: str, place: str, *, advice: str) -> None:
    """Raises if these ids are known to be internal ones, where ids of the source are meant.

    Args:
        values: The ids.
        name: What messages call them.
        place: What takes ids of the source.
        advice: What to do instead.
    """
    if order_of(values) != 0:
        raise ValueError(
            f"{name} are marked as internal ids of a dataset (see NodeIds), but {place} is for ids "
            f"of the source; {advice}"
        )


def require_marked(
    values: Any,  # noqa: ANN401
    name: str,
    order: int,
    *,
    advice: str = "pass ds.to_internal(…) of the first, or ds.as_internal(…) of the second",
) -> None:
    """Raises unless these ids, or this mask, are known to be internal ones of a dataset.

    Args:
        values: The ids.
        name: What messages call them.
        order: The order of the dataset.
        advice: How to say which ids they are.
    """
    found = order_of(values)
    if found == order:
        return
    if found != 0:
        raise IdError(
            f"{name}: these are nodes of another dataset, or of another version of it, or of "
            f"another type: the orders differ ({found:#x} and {order:#x}). Go by the ids of the "
            "source, with to_external there and to_internal here"
        )
    raise IdError(
        f"{name}: integers and masks can go by ids of the source or of the dataset, which has its "
        f"nodes in another order; {advice}"
    )
