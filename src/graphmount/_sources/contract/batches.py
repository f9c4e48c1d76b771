"""What every source of edges or rows looks like to the compilers: batches of columns.

A source is opened once, has attributes for what is known about it, and is then read from its
beginning to its end, batch by batch, in the order of its rows. Batches take about as much memory as
the caller allows. Errors in the data are `SourceError`s that name the file and the place in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._sources.contract.file_stamps import FileStamp
    from graphmount._support.text_columns import Keys


#: How many messages about rows that were left out are kept: enough to see what is wrong.
MOST_EXAMPLES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeBatch:
    """Some edges: row i runs from `src[i]` to `dst[i]`.

    Attributes:
        src: Where the edges begin.
        dst: Where they end; of the same kind as `src`.
        weights: Their weights, if the source has them.
        timestamps: Their times, if the source has them.
        done: How much of the source has been read with this batch, in the unit of its `size`.
    """

    src: Keys
    dst: Keys
    weights: NDArray[np.float32] | None = None
    timestamps: NDArray[np.int64] | None = None
    done: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class RowBatch:
    """Some rows of a table of features.

    Attributes:
        rows: The values, of shape (rows, columns), or (rows,) for a vector; of the source's dtype
            in native byte order (bfloat16 as uint16 arrays of its bits). Not always contiguous.
            Of text, a `TextColumn`, which `EncodedRows` makes numbers of.
        keys: Which node each row belongs to; None for a source that has its rows in order.
        done: How much of the source has been read with this batch, in the unit of its `size`.
    """

    rows: Any
    keys: Keys | None = None
    done: int = 0


@dataclass(kw_only=True, slots=True)
class Skipped:
    """Rows that were left out because they could not be read, with `on_error="skip"`.

    Attributes:
        count: How many.
        examples: The messages of the first few, as they would have been raised.
    """

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, count: int, examples: list[str]) -> None:
        """Counts more of them; of the messages, the first `MOST_EXAMPLES` are kept."""
        self.count += count
        self.examples.extend(examples[: MOST_EXAMPLES - len(self.examples)])

    def clear(self) -> None:
        """Forgets them: a source that is read again leaves the same ones out again."""
        self.count = 0
        self.examples.clear()


class Source:
    """What sources of edges and of rows share.

    Args:
        name: What messages and progress bars call it: a path, or what the object is.
        size: All there is to read, in the unit of a batch's `done`: bytes for files (as they lie on
            the disk), else edges or rows. None if that is unknown.

    Attributes:
        name: See above.
        size: See above.
        skipped: What has been left out so far.
        stamps: What its files were before it was opened.
    """

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self.size = size
        self.skipped = Skipped()
        self.stamps: tuple[FileStamp, ...] = ()

    def _be_like(self, source: Source) -> None:
        """Copies everything public that is known about another source."""
        vars(self).update(
            {name: value for name, value in vars(source).items() if not name.startswith("_")}
        )

    def rename(self, name: str) -> None:
        """Gives it the name by which users know it, which messages will call it from now on."""
        self.name = name


class EdgeSource(Source, ABC):
    """Edges of any origin.

    Attributes:
        num_edges: How many edges there are, if that is known before reading them.
        estimated_edges: About how many there are, if only that is known.
        num_nodes: How many nodes the source says there are, if it does.
        num_ends: How many sources and destinations it says there are, if its edges lead from one
            node type to another.
        node_ids: All nodes in their order, if the source knows them: the ids by which edges name
            them, or, where `num_nodes` is known and edges have numbers, what these stand for.
        is_symmetric: Whether the source has each edge once and means it to run both ways.
        has_text_ids: Whether ids are text rather than numbers.
        has_weights: Whether batches have weights.
        has_timestamps: Whether batches have timestamps.
        num_doubtful_lines: In how many of its files the first line may be a header, though it was
            taken for an edge: ids are text, and nobody said.
        order: The fingerprint of the order that its nodes are in, if it is a graph of ours; 0 if
            that is nobody's but its own.
    """

    num_edges: int | None = None
    estimated_edges: int | None = None
    num_nodes: int | None = None
    num_ends: tuple[int, int] | None = None
    node_ids: Keys | None = None
    is_symmetric = False
    has_text_ids = False
    has_weights = False
    has_timestamps = False
    num_doubtful_lines = 0
    order = 0

    @abstractmethod
    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """All edges, from the first on, in batches for which about `memory` bytes are used."""


class RowSource(Source, ABC):
    """Rows of features, of any origin.

    Attributes:
        num_rows: How many rows there are, if that is known before reading them.
        num_columns: How many columns; 1 for a vector.
        is_vector: Whether rows are single values: labels, for instance.
        dtype: The name of the dtype of the values.
        has_keys: Whether rows say which node they belong to.
        has_text_keys: Whether they do so by text rather than numbers.
        has_text_values: Whether the values are text, which an encoder makes numbers of.
        order: The fingerprint of the order of nodes that its rows are in, if they know one: tables
            and labels of a reordered dataset do. 0 if it is that of the source.
        values_name: What messages call the values, if not as the source.
        is_number: Whether a text is a number, where a source may hold either.
        column_names: What the source calls the columns; empty if it has no names for them.
    """

    num_rows: int | None = None
    num_columns: int
    is_vector: bool
    dtype: str
    has_keys = False
    has_text_keys = False
    has_text_values = False
    order = 0
    values_name: str | None = None
    is_number: Callable[[bytes], bool] | None = None
    column_names: tuple[str, ...] = ()

    @abstractmethod
    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """All rows, from the first on, in batches for which about `memory` bytes are used."""
