"""A source together with the options to read and store it by, for `compile_dataset`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.contract.nan import NanPolicy


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows of features or labels, one for each node (or edge), and how to store them.

    The attributes are the arguments of `compile_features` of the same names.

    Attributes:
        source: Where the rows come from.
        dtype: How to store the values; as they are if None.
        key: Which node each row belongs to; without keys, row i belongs to node i of the source.
        columns: The columns to take.
        missing: The value for nodes without a row; "error" refuses them.
        repeated: Which of several rows for one node to keep.
        nan: What to do with NaN.
        quantize: "column" for int8 with a scale for each column.
        delimiter: For text: what separates values.
        header: For text: whether the first line has names.
        comments: For text: the characters with which lines begin that are not data.
        shape: For headerless binary files: the shape of the matrix.
        source_dtype: For headerless binary files: their dtype.
        member: For `.npz` files with several arrays: which one.

    Examples:
        >>> import graphmount as gm
        >>> x = gm.Table(source=[[3.0], [1.0]], key=[2, 0], missing=0.0, dtype="float16")
        >>> gm.compile_dataset("tiny", edges=([0, 1], [1, 2]), features={"x": x}).num_nodes
        3
    """

    source: Any
    dtype: DTypeLike | str | None = None
    key: int | str | ArrayLike | Sequence[str] | None = None
    columns: Sequence[int] | Sequence[str] | None = None
    missing: Literal["error"] | float = "error"
    repeated: Literal["error", "first", "last"] = "error"
    nan: NanPolicy = "keep"
    quantize: Literal["column"] | None = None
    delimiter: str | None = None
    header: bool | None = None
    comments: str = "#%"
    shape: tuple[int, ...] | None = None
    source_dtype: DTypeLike | None = None
    member: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeTable:
    """Edges, and how to read them.

    The attributes are the arguments of `compile_graph` of the same names.

    Attributes:
        source: Where the edges come from.
        columns: Which columns hold source and destination; or which member of an `.npz` file holds
            both.
        weights: The column of the weights, or an array of them.
        timestamps: The column of the times, or an array of them.
        delimiter: For text: what stands between the columns.
        header: For text: whether the first line names the columns.
        comments: For text: the characters with which lines begin that are not edges.
        shape: For headerless binary files: their shape.
        dtype: For headerless binary files: their dtype.

    Examples:
        >>> import pathlib
        >>> import graphmount as gm
        >>> _ = pathlib.Path("cites.txt").write_text("0;1;0.5")
        >>> edges = gm.EdgeTable(source="cites.txt", weights=2, delimiter=";")
        >>> gm.compile_dataset("cites", edges=edges).num_edges
        1
    """

    source: Any
    columns: tuple[str | int, str | int] | str | None = None
    weights: ArrayLike | str | int | bool | None = None
    timestamps: ArrayLike | str | int | None = None
    delimiter: str | None = None
    header: bool | None = None
    comments: str = "#%"
    shape: tuple[int, ...] | None = None
    dtype: DTypeLike | None = None
