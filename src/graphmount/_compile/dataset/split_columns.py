"""Splits from a column: each different value of it is a split of that name.

A value that is missing (null, NaN, or an empty field) belongs to no split. The column stands in a
`Table` of its own, or in the table of the labels or of features, by its name alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._compile.dataset.labels import LABELS_FILE
from graphmount._sources.arrow.opening import is_arrow
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.node_keys import take_keys
from graphmount._sources.contract.tables import Table
from graphmount._sources.contract.text_values import TextEncoder
from graphmount._sources.kinds import TABLE_KINDS, kind_of
from graphmount._sources.opening import open_table
from graphmount._sources.paths import expand, is_paths
from graphmount._support.shown import shown
from graphmount._support.text_columns import TextColumn
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._support.text_columns import Keys

_MEMORY = 16 << 20
#: A column with more different values cannot be splits; it may have names of nodes.
_MOST_SPLITS = 1000
_MOST_NAME_BYTES = 1 << 18


def with_column(splits: Any, tables: Mapping[str, OpenedTable]) -> Any:  # noqa: ANN401
    """Splits as they are given; those that a column has by name.

    Args:
        splits: A `Table` of one column, the name of a column of one of the tables, or anything
            else, which is left as it is.
        tables: The tables of the nodes, by their files.

    Raises:
        SourceError: No table has the column, or it has too many different values.
        TypeError, ValueError: The table cannot be opened.
    """
    if isinstance(splits, str):
        return _read(_find(splits, tables))
    return _read(splits) if isinstance(splits, Table) else splits


def _find(column: str, tables: Mapping[str, OpenedTable]) -> Table:
    """The table that has this column: that of the labels, or the first of the features."""
    files = sorted(tables, key=lambda file: file != LABELS_FILE)
    others = []
    for table in (tables[file].table for file in files):
        if not _has_columns(table.source):
            continue
        found = Table(
            source=table.source,
            key=table.key,
            columns=[column],
            delimiter=table.delimiter,
            header=table.header,
            comments=table.comments,
        )
        try:
            open_table(found, encoder=_encoder())
        except SourceError as error:
            others.append(str(error))
        else:
            return found
    reason = f" ({others[0]})" if others else ""
    raise SourceError(
        f"splits={shown(column)}: neither labels nor features have a column of this name{reason}; "
        f"pass splits=Table(source=…, key=…, columns=[{shown(column)}]), or a dict of splits"
    )


def _has_columns(source: object) -> bool:
    """Whether columns of a source have names."""
    if is_paths(source):
        return kind_of(expand(source)[0]) in ("text", *TABLE_KINDS)
    return is_arrow(source)


def _encoder() -> TextEncoder:
    values = "values, each of which would be a split"
    return TextEncoder(most_bytes=_MOST_NAME_BYTES, takes_numbers=True, values=values)


def _read(table: Table) -> dict[str, Any]:
    encoder = _encoder()
    rows = open_table(replace(table, missing=-1), name="splits", encoder=encoder)
    if rows.num_columns != 1:
        raise SourceError(
            f"{rows.name}: splits are one column, not {rows.num_columns}; choose it with columns="
        )
    if rows.has_text_values:
        encoder.settle(rows, memory=_MEMORY, missing=-1)
    values: list[NDArray[Any]] = []
    keys: list[Keys] = []
    for batch in rows.batches(memory=_MEMORY):
        values.append(batch.rows.reshape(-1))
        if batch.keys is not None:
            keys.append(batch.keys)
    require_unchanged(rows)
    codes = np.concatenate(values) if values else np.empty(0, np.int64)
    names = encoder.classes
    if names is None:
        codes, names = _numbered(codes, rows.name)
    if len(names) > _MOST_SPLITS:
        raise SourceError(
            f"{rows.name} has {len(names):,} different values, and each would be a split; a column "
            f"of splits has {_MOST_SPLITS:,} at the most: choose another with columns="
        )
    places = {name: np.flatnonzero(codes == number) for number, name in enumerate(names)}
    if not rows.has_keys:
        return {name: _mask(some, len(codes)) for name, some in places.items()}
    return {name: _taken(keys, some) for name, some in places.items()}


def _numbered(values: NDArray[Any], name: str) -> tuple[NDArray[np.int64], list[str]]:
    """The number of the split of each row, -1 for none, and the names of the splits."""
    is_there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    found, codes = np.unique(values[is_there], return_inverse=True)
    if found.dtype.kind == "f" and (found != np.floor(found)).any():
        fraction = found[found != np.floor(found)][0]
        raise SourceError(
            f"{name} has {fraction}, which is no name of a split; choose a column of text or whole "
            "numbers with columns="
        )
    numbers = np.full(len(values), -1, np.int64)
    numbers[is_there] = codes
    return numbers, [str(int(value)) for value in found]


def _mask(places: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, np.bool_)
    mask[places] = True
    return mask


def _taken(keys: list[Keys], places: NDArray[np.int64]) -> NDArray[np.int64] | list[str]:
    """The keys at these places, which are in order: strings as a list, as users give them."""
    strings: list[str] = []
    numbers: list[NDArray[np.int64]] = []
    first = 0
    for some in keys:
        begin, end = np.searchsorted(places, [first, first + len(some)])
        chosen = take_keys(some, places[begin:end] - first)
        if isinstance(chosen, TextColumn):
            strings += _core.split_names(chosen.offsets, chosen.data)
        else:
            numbers.append(chosen)
        first += len(some)
    return np.concatenate(numbers) if numbers else strings
