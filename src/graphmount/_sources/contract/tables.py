"""How users describe a source, and what is passed from the call to the reader.

A request is a table plus what the compiler wants from its source. An option that means nothing for
a source is an error: if it were ignored, users would think that it works.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from graphmount._support.arguments import require_choice
from graphmount._support.display import Displayed
from graphmount._support.foreign_words import EDGE_WORDS, TABLE_WORDS
from graphmount._support.keywords import advising_class
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.contract.nan import NanPolicy
    from graphmount._sources.contract.text_values import TextEncoder


@advising_class(TABLE_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table(Displayed):
    """Rows of features or labels, one for each node (or edge), and how to store them.

    The attributes have the names and meanings that they have as arguments of `compile_features`.

    Attributes:
        source: Where the rows come from: any source that `compile_features` takes.
        dtype: How to store the values, such as "float16"; they stay as they are if None.
        key: Which node each row belongs to: a column, by name or number, or an array with one key
            for each row. Without keys, row i belongs to node i of the source.
        columns: The columns to take, by name or number. All columns except the key if None.
        missing: What to do with nodes that have no row: "error" refuses them, a number is stored as
            their value.
        repeated: What to do with several rows for the same node: "first" or "last" keeps that one,
            "error" refuses them.
        nan: What to do with NaN: "keep" stores it, "error" refuses it, a number is stored in its
            place.
        quantize: "column" stores int8 with a float32 scale for each column.
        delimiter: For text files: the character between columns; found by looking at the first
            lines if None.
        header: For text files: whether the first line has the names of the columns; found by
            looking at it if None.
        comments: For text files: lines that begin with one of these characters are skipped.
        shape: For headerless binary files: the shape of the matrix.
        source_dtype: For headerless binary files: the dtype of their values; the same as `dtype` if
            None.
        member: For `.npz` files with several arrays: the name of the one to take.

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


@advising_class(EDGE_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EdgeTable(Displayed):
    """Edges, and how to read them.

    The attributes have the names and meanings that they have as arguments of `compile_graph`.

    Attributes:
        source: Where the edges come from: any source that `compile_graph` takes.
        columns: Which two columns hold the source and the destination of edges, by name or number;
            or which member of an `.npz` file holds both.
        weights: The weights of edges: a column, by name or number, or an array with one number for
            each edge. True takes the values of a sparse matrix.
        timestamps: The times of edges: a column, by name or number, or an array with one int64 for
            each edge.
        delimiter: For text files: the character between columns; found by looking at the first
            lines if None.
        header: For text files: whether the first line has the names of the columns; found by
            looking at it if None.
        comments: For text files: lines that begin with one of these characters are skipped.
        shape: For headerless binary files: the shape of the array.
        dtype: For headerless binary files: the dtype of the array.

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


#: Whether a row that cannot be used ends the work, or is left out and counted.
OnError: TypeAlias = Literal["raise", "skip"]
#: What node ids are: positions (integers from 0 on), integers of any sign, or text.
KeyKind: TypeAlias = Literal["dense", "int", "text"]


#: What messages call options that have another name here.
_KNOWN_AS = {"keys": "key_type", "source_dtype": "dtype"}


class _Request:
    """What requests for edges and for rows share.

    Attributes:
        on_error: "skip" leaves out rows that cannot be used, and counts them.
    """

    #: No options to read a source by. Rows that cannot be used are left out of any source.
    _not_for_reading: ClassVar[tuple[str, ...]] = ("source", "on_error")
    on_error: OnError

    def __post_init__(self) -> None:
        require_choice("on_error", self.on_error, ("raise", "skip"))

    def allow(self, name: str, kind: str, *allowed: str) -> None:
        """Raises if an option to read by is used that is not among these.

        Args:
            name: What messages call the source.
            kind: What it is.
            allowed: The options that mean something to it.
        """
        for option in fields(self):  # type: ignore[arg-type]
            value = getattr(self, option.name)
            # Compared by identity: an array of weights would be compared value by value.
            is_default = value is option.default or (
                isinstance(value, str) and value == option.default
            )
            if is_default or option.name in (*allowed, *self._not_for_reading):
                continue
            known = (f"{_KNOWN_AS.get(other, other)}=" for other in allowed)
            raise ValueError(
                f"{_KNOWN_AS.get(option.name, option.name)}={shown(value)} means nothing for "
                f"{name}, {kind}; its options are: {', '.join(known) or 'none'}"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeRequest(EdgeTable, _Request):
    """A table of edges to be read.

    Attributes:
        keys: What ids are; None for what the source has.
        on_error: What to do with rows that cannot be read.
    """

    keys: KeyKind | None = None
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        """Checks what tables do not have."""
        super().__post_init__()
        require_choice("keys", self.keys, (None, "dense", "int", "text"))


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRequest(Table, _Request):
    """A table of rows to be read; its `source_dtype` is as what to read them.

    Attributes:
        on_error: What to do with rows that cannot be read.
        encoder: Makes numbers of a column of text, as of labels; text is refused if None.
        is_time: Whether one column of dates or times is read as seconds since 1970.
    """

    _not_for_reading = (
        "source",
        "on_error",
        "dtype",
        "missing",
        "repeated",
        "nan",
        "quantize",
        "encoder",
        "is_time",
    )

    on_error: OnError = "raise"
    encoder: TextEncoder | None = None
    is_time: bool = False
