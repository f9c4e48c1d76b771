"""Tables of Ray Data: the blocks of a `ray.data.Dataset`, in their order, one in memory at a time.

Ray Data runs the operators of a dataset while its blocks are read, and gives blocks as they are
finished, unless it is told to preserve their order. It is told so here, on a copy of the dataset:
the rows come in the order of the inputs, the same in every run. Each pass runs the operators anew.
So a second pass is compared with the first, value by value, and refused if it differs.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmount._sources.arrow.column_digest import PassDigests
from graphmount._sources.arrow.tables import FIRST_ROWS, ArrowTable, pyarrow
from graphmount._support.threads.lost_interrupts import interrupts_come_again
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Block(NamedTuple):
    """A block of a dataset, where Ray keeps it.

    Attributes:
        ref: Ray's reference to it.
        num_rows: How many rows it has.
        num_bytes: What it takes, as Ray counts it.
    """

    ref: Any
    num_rows: int
    num_bytes: int


class WholeTable(NamedTuple):
    """What a task knows of the table whose blocks it reads."""

    name: str
    schema: Any


def is_ray_data(source: object) -> bool:
    """Whether this is a dataset of Ray Data."""
    data = sys.modules.get("ray.data")
    return data is not None and isinstance(source, data.Dataset)


class RayTable(ArrowTable):
    """A dataset of Ray Data, whose operators run once for each pass.

    Args:
        dataset: The dataset.

    Raises:
        SourceError: It has no columns, or what makes its rows fails.
    """

    name = "a Ray Dataset"
    size = None
    num_rows = None

    def __init__(self, dataset: Any) -> None:  # noqa: ANN401
        self.dataset = _ordered(dataset)
        self._digests = PassDigests()
        with failures_of(self):
            # That of the first rows: Ray's own may be what the types of all blocks have in common.
            self.schema = next((table.schema for table in self._tables(1)), None)
            if self.schema is None:
                self.schema = getattr(self.dataset.schema(), "base_schema", None)
        if not isinstance(self.schema, pyarrow().Schema):
            raise SourceError(f"{self.name}: there are no rows in it; give it some")

    def first_values(self, column: int) -> Any:  # noqa: ANN401
        """See `ArrowTable`."""
        with failures_of(self):
            tables = [table.column(column) for table in self._tables(FIRST_ROWS)]
        return next((column.chunk(0) for column in tables if column.num_chunks), None)

    def blocks(self) -> Iterator[Block]:
        """All blocks that have rows, in their order, as Ray finishes them."""
        with failures_of(self):
            for bundle in self.dataset.iter_internal_ref_bundles():
                for entry in bundle.blocks:
                    known = entry.metadata
                    if known.num_rows != 0:
                        yield Block(entry.ref, known.num_rows, known.size_bytes or 0)

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        del num_rows  # blocks are as Ray has made them
        self._names(columns)  # or there is one that is there twice
        batches = self._digests.compare(columns, self._run(columns), self._changed)
        done = 0
        for batch in batches:
            done += batch.num_rows
            yield batch, done

    def _run(self, columns: list[int]) -> Iterator[Any]:
        for number, block in enumerate(self.blocks()):
            with failures_of(self):
                table = arrow_of(block.ref)
            yield from BlockTable(self, table, number).select(columns).to_batches()

    def _tables(self, num_rows: int) -> Iterator[Any]:
        """The first rows, as tables of Arrow."""
        for bundle in self.dataset.limit(num_rows).iter_internal_ref_bundles():
            for entry in bundle.blocks:
                if entry.metadata.num_rows != 0:
                    yield arrow_of(entry.ref)

    def _changed(self, column: int) -> SourceError:
        return SourceError(
            f"{self.label_of(column)}: Ray gave other rows, or the same in another order, when the "
            "dataset was read again; what makes them must give the same each time: pass "
            "dataset.materialize()"
        )


class BlockTable(ArrowTable):
    """One block of a dataset.

    Args:
        whole: The table that it is of, or what is known of it: its name and schema.
        table: The block, as a table of Arrow.
        number: Its number.
        first_row: How many rows are before it.
    """

    def __init__(
        self,
        whole: ArrowTable | WholeTable,
        table: Any,  # noqa: ANN401
        number: int,
        first_row: int = 0,
    ) -> None:
        self.name = whole.name
        self.schema = whole.schema
        self.size = self.num_rows = table.num_rows
        self.first_row = first_row
        self._table = table
        self._number = number

    def select(self, columns: list[int]) -> Any:  # noqa: ANN401
        """These columns of the block.

        Raises:
            SourceError: It does not have them, or of another type.
        """
        for column in columns:
            field, found = self.schema.field(column), self._table.schema
            places = found.get_all_field_indices(field.name)
            if len(places) != 1 or found.field(places[0]).type != field.type:
                has = f"of type {found.field(places[0]).type}" if places else "not there"
                raise SourceError(
                    f"{self.label_of(column)} is {has} in block {self._number}, and of type "
                    f"{field.type} in the schema; all blocks must have the same columns: cast them "
                    "with map_batches"
                )
        return self._table.select([self.schema.names[column] for column in columns])

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        done = 0
        for batch in self.select(columns).to_batches(max_chunksize=num_rows):
            done += batch.num_rows
            yield batch, done


def arrow_of(ref: Any) -> Any:  # noqa: ANN401
    """A block as a table of Arrow.

    Args:
        ref: Ray's reference to it.
    """
    import ray
    from ray.data.block import BlockAccessor

    return BlockAccessor.for_block(ray.get(ref)).to_arrow()


def _ordered(dataset: Any) -> Any:  # noqa: ANN401
    """A copy of a dataset that keeps its rows in order; the user's own one is not changed."""
    copied = type(dataset).copy(dataset, _deep_copy=True)
    copied.context.execution_options.preserve_order = True
    return copied


class failures_of:  # noqa: N801  (a context manager, as those of contextlib)
    """Turns what Ray raises inside of it into a `SourceError` about this table.

    Ctrl-C that a destructor of Ray has dropped is raised, too: a dataset that is not read to its
    end takes seconds to be deleted.

    Args:
        table: The table.
    """

    def __init__(self, table: ArrowTable) -> None:
        self._table = table
        self._interrupts = interrupts_come_again()

    def __enter__(self) -> None:
        self._interrupts.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._interrupts.__exit__(kind, error, trace)
        exceptions: Any = sys.modules.get("ray.exceptions")
        is_rays = exceptions is not None and isinstance(error, exceptions.RayError)
        user_code = getattr(exceptions, "UserCodeException", ())
        if error is not None and (is_rays or isinstance(error, user_code)):
            raise SourceError(
                f"{self._table.name}: what makes its rows failed ({_reason(error)})"
            ) from error


def _reason(error: BaseException) -> str:
    """What has failed in a task: Ray tells it at the end of a traceback, and then advises."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    errors = [
        line
        for line in lines
        if re.match(r"[\w.]+(Error|Exception|Interrupt|Exit)\b", line) and "UserCode" not in line
    ]
    found = errors or lines or [""]
    return found[-1][:300] if errors else f"{type(error).__name__}: {found[0][:300]}"
