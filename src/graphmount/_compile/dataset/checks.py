"""Checks of the parts of a dataset, made before the edges are read.

Reading edges can take hours; checking options of tables, kinds of keys, ids of splits and scores
takes a second. Everything is checked again where it is used, because sources may change meanwhile.
`splits` checks what a split can be at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.files import OpenedTable, file_of
from graphmount._compile.dataset.nodes import KnownNodes, as_scores, check_ordering
from graphmount._compile.rows.placement import require_order
from graphmount._compile.rows.stored_form import check_table
from graphmount._dataset.description import MOST_BYTES
from graphmount._support.arguments import as_list, is_text
from graphmount._support.shown import shown
from graphmount.errors import OrderError, SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._sources.contract.tables import OnError


def check_parts(
    nodes: KnownNodes,
    source: EdgeSource,
    *,
    node_tables: Mapping[str, OpenedTable],
    edge_tables: Mapping[str, OpenedTable],
    splits: Mapping[str, NDArray[Any]],
    order: str | ArrayLike,
    notes: Sequence[str],
    memory: int,
) -> None:
    """Raises if a part of a dataset is wrong by itself, or does not go with the others.

    Args:
        nodes: What is known of the nodes.
        source: The edges.
        node_tables: Tables of nodes, by their files.
        edge_tables: Tables of edges, by their files.
        splits: Splits by name, as `read_splits` gives them.
        order: The order, as it is given.
        notes: The notes, as they are given.
        memory: The budget, in bytes.
    """
    order_of_source = source.order if node_tables else 0
    check_node_parts(nodes, node_tables, splits, order=order_of_source, name=source.name)
    check_edge_tables(source, edge_tables)
    if not isinstance(order, str):
        as_scores(order, nodes.count)
    if nodes.count is not None:
        check_ordering(order, nodes.count, None, memory)
    check_notes(notes)


def check_node_parts(
    nodes: KnownNodes,
    node_tables: Mapping[str, OpenedTable],
    splits: Mapping[str, NDArray[Any]],
    *,
    order: int = 0,
    name: str,
) -> None:
    """Raises if a table or a split of some nodes is wrong.

    Args:
        nodes: What is known of the nodes.
        node_tables: Their tables, by their files.
        splits: Their splits by name, as `read_splits` gives them.
        order: The order that their source has, if it has one of its own.
        name: Whose order that is.
    """
    for table in node_tables.values():
        check_table(table.rows, table.table)
        _check_keys(table.rows, nodes)
        require_order(table.rows, order, name)
    for split_name, split in splits.items():
        file_of("splits", split_name)  # or a message that says why not
        _check_split(split, split_name, nodes)


def check_edge_tables(source: EdgeSource, edge_tables: Mapping[str, OpenedTable]) -> None:
    """Raises if a table of edges cannot be that of these edges."""
    for table in edge_tables.values():
        check_table(table.rows, table.table)
        _check_edge_rows(table.rows, source)


def refuse_skips(on_error: OnError) -> None:
    """Raises if edges may be left out that have rows in tables."""
    if on_error == "skip":
        raise ValueError("edge_features= does not go with on_error='skip': rows would not match")


def _check_keys(rows: RowSource, nodes: KnownNodes) -> None:
    if rows.has_keys and rows.has_text_keys != nodes.has_text_ids:
        kinds = ("text", "numbers") if rows.has_text_keys else ("numbers", "text")
        advice = "; pass ids='map', if the edges have names too" if rows.has_text_keys else ""
        raise ValueError(
            f"the keys of {rows.name} are {kinds[0]}, but the ids of nodes are {kinds[1]}{advice}"
        )


def _check_edge_rows(rows: RowSource, source: EdgeSource) -> None:
    if rows.has_keys:
        raise ValueError(
            f"{rows.name}: a table of edges has no keys, since row i belongs to row i of the "
            "edges; leave key= out"
        )
    if None not in (rows.num_rows, source.num_edges) and rows.num_rows != source.num_edges:
        raise OrderError(
            f"{rows.name} has {rows.num_rows} rows, but {source.name} has {source.num_edges} edges"
        )


def _check_split(split: NDArray[Any], name: str, nodes: KnownNodes) -> None:
    if not nodes.is_numbered or split.dtype.kind not in "iu":
        return
    wrong = split < 0
    if nodes.count is not None:
        wrong |= split >= nodes.count
    if wrong.any():
        place = int(np.argmax(wrong))
        last = "" if nodes.count is None else f" to {nodes.count - 1}"
        raise SourceError(
            f"split {name!r}: node {split[place]} (at position {place}) does not exist: nodes are "
            f"numbered from 0{last}"
        )


def check_notes(notes: Sequence[str]) -> None:
    """Raises unless notes are sentences, and not too many."""
    for place, note in enumerate(as_list(notes, "notes", "sentences")):
        if not isinstance(note, str):
            raise TypeError(f"notes must be a list of sentences, not of {shown(note)}")
        if not is_text(note):
            raise ValueError(f"notes[{place}], {shown(note)}, is no text that can be written")
    # Half of what a description may have, as a character takes up to four bytes.
    if sum(len(note) for note in notes) > MOST_BYTES // 8:
        raise ValueError(
            f"notes have more than {MOST_BYTES // 8:,} characters; give fewer or shorter notes="
        )
