"""What users say of a source, and what travels from the call to the reader.

A request is a table with what the compiler wants of its source. An option that means nothing to a
source is an error: silence would be taken for a promise.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from graphmount._support.arguments import require_choice
from graphmount._support.display import Displayed
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.contract.nan import NanPolicy
    from graphmount._sources.contract.text_values import TextEncoder


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table(Displayed):
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EdgeTable(Displayed):
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
    )

    on_error: OnError = "raise"
    encoder: TextEncoder | None = None
