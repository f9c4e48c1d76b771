"""Rows of all nodes as a dataset of Ray Data: features, or the outputs of a model for all nodes.

Each task of Ray opens the file and reads its own range of rows, some at a time. So the file must be
where all nodes of the cluster can read it, under the same path. Every node of the graph is in one
row of the dataset; rows are in the order of the file.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from graphmount._dataset.dataset import Dataset
from graphmount._mount.features import FeatureStore
from graphmount._mount.order import check_order
from graphmount._support.shown import shown
from graphmount._support.sizes import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

#: With fewer bytes at once, blocks would be too small to be worth a task's message.
_LEAST_MEMORY = 1 << 20


def read_features(
    source: str | os.PathLike[str] | Dataset | FeatureStore,
    table: str | os.PathLike[str] | None = None,
    *,
    column: str | None = None,
    memory: int | str = "64MiB",
    **options: Any,  # noqa: ANN401
) -> ray.data.Dataset:
    """The rows of all nodes as a `ray.data.Dataset` of ids and rows.

    It has a column "id", with what the source calls each node, and one with its row. So
    `map_batches`, `write_parquet` and all else of Ray Data work on features that are larger than
    memory, or on what `layerwise_inference` has written.

    Args:
        source: A dataset, or its folder: ids are those of its nodes. Or a feature file, whose ids
            are then the numbers of its rows.
        table: With a dataset, which rows: the name of a table of features, or the path of a feature
            file in the order of the dataset, such as the outputs of `layerwise_inference`. May be
            left out if the dataset has one table.
        column: What to call the column of rows; the name of the table if None, or "x".
        memory: How many bytes of rows a task reads at a time, which is the size of a block, at
            least 1 MiB.
        options: More options of `ray.data.read_datasource`, such as `override_num_blocks`.

    Returns:
        A `ray.data.Dataset`.

    Raises:
        OrderError: The file has rows for other nodes than those of the dataset.
        MissingDataError, KeyError: There is no such table.
        OSError: A file cannot be read.

    Examples:
        >>> import graphmount as gm
        >>> def write_outputs():
        ...     import graphmount.ray
        ...
        ...     outputs = gm.ray.read_features("papers", "outputs.gd", column="scores")
        ...     outputs.write_parquet("outputs")  # columns "id" and "scores"
    """
    block_bytes = parse_bytes(memory, "memory")
    if block_bytes < _LEAST_MEMORY:
        raise ValueError(f"memory={shown(memory)} is too little; a task reads 1 MiB at least")
    opened = _FeatureSource(source, table, column=column, memory=block_bytes)
    return ray.data.read_datasource(opened, **options)


class _FeatureSource(Datasource):  # type: ignore[misc]  # Ray has no types
    """Rows of one feature file with the ids of their nodes, as Ray Data reads them."""

    def __init__(
        self,
        source: str | os.PathLike[str] | Dataset | FeatureStore,
        table: str | os.PathLike[str] | None,
        *,
        column: str | None,
        memory: int,
    ) -> None:
        super().__init__()
        self._memory = memory
        self._folder: str | None = None
        if isinstance(source, str | os.PathLike) and os.path.isdir(source):
            source = Dataset(source)
        if not isinstance(source, str | os.PathLike | FeatureStore):
            dataset = source
            if not isinstance(dataset, Dataset):
                raise TypeError(
                    f"{shown(source)} has many node types; pass the path of one feature file"
                )
            self._folder = os.path.abspath(dataset.path)
            self._path, name = _find_table(dataset, table)
            with FeatureStore(self._path) as rows:
                check_order(dataset.graph, rows)
        else:
            if table is not None:
                raise ValueError("table= goes with a dataset; the source is a feature file")
            path = source.path if isinstance(source, FeatureStore) else source
            self._path, name = os.path.abspath(os.fsdecode(path)), "x"
        self._column = name if column is None else column
        if self._column == "id":
            raise ValueError("column='id' is the column of ids; choose another name")
        with FeatureStore(self._path) as rows:
            self._num_rows = len(rows)
            self._row_bytes = max(1, _plain_rows(rows, np.arange(min(1, self._num_rows))).nbytes)

    def estimate_inmemory_data_size(self) -> int:
        return self._num_rows * (self._row_bytes + 8)

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: object = None,
    ) -> Sequence[ReadTask]:
        del data_context
        at_once = max(1, self._memory // (self._row_bytes + 8))
        bounds = np.linspace(0, self._num_rows, max(1, parallelism) + 1).astype(np.int64).tolist()
        made = []
        for first, end in itertools.pairwise(bounds):
            if first == end and self._num_rows:
                continue
            known = BlockMetadata(
                num_rows=end - first,
                size_bytes=(end - first) * (self._row_bytes + 8),
                input_files=[self._path],
                exec_stats=None,
            )
            read = _Range(
                folder=self._folder,
                path=self._path,
                column=self._column,
                first=first,
                end=end,
                at_once=at_once,
            )
            made.append(ReadTask(read, known, per_task_row_limit=per_task_row_limit))
        return made


@dataclass(frozen=True, kw_only=True)
class _Range:
    """Reads a range of rows, in blocks.

    Attributes:
        folder: The dataset whose ids its nodes have; None for the numbers of rows.
        path: The feature file.
        column: What to call the column of rows.
        first: The first row.
        end: The row behind the last.
        at_once: How many rows a block has.
    """

    folder: str | None
    path: str
    column: str
    first: int
    end: int
    at_once: int

    def __call__(self) -> Iterator[Any]:
        dataset = None if self.folder is None else Dataset(self.folder)
        with FeatureStore(self.path) as rows:
            for first in range(self.first, max(self.end, self.first + 1), self.at_once):
                nodes = np.arange(first, min(self.end, first + self.at_once))
                ids: Any = nodes if dataset is None else dataset.to_external(nodes)
                if isinstance(ids, list):
                    ids = np.array(ids, dtype=object)
                block = {"id": ids, self.column: _plain_rows(rows, nodes)}
                yield BlockAccessor.batch_to_arrow_block(block)


def _plain_rows(rows: FeatureStore, nodes: NDArray[np.int64]) -> NDArray[Any]:
    """Rows as NumPy has them: float32 where it has no such dtype, or values are scaled."""
    is_plain = rows.dtype != "bfloat16" and rows.scales is None
    return rows.gather(nodes, dtype=None if is_plain else "float32")


def _find_table(dataset: Dataset, table: str | os.PathLike[str] | None) -> tuple[str, str]:
    """The path of a table, and its name."""
    names = list(dataset.features)
    if table is None:
        if len(names) != 1:
            raise ValueError(
                f"{dataset.path} has {len(names)} tables of features; name one: table="
                + " or ".join(map(repr, names or ["the path of a feature file"]))
            )
        table = names[0]
    if isinstance(table, str) and table in names:
        return os.path.abspath(dataset.features[table].path), table
    if os.path.isfile(table):
        return os.path.abspath(os.fsdecode(table)), "x"
    return os.path.abspath(dataset.features[str(table)].path), str(
        table
    )  # which says what is there
