"""What a look at the parts of a dataset shows to be wrong, told before the edges are read.

Reading edges takes hours; options of tables, kinds of keys, ids of splits and scores take a second.
All of it is checked again where it is used, since sources may change meanwhile. What a split can be
at all is known to `_dataset_splits`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.nodes import as_scores
from graphmount._compile.feature_compiler import check_table
from graphmount._dataset.description import MOST_BYTES
from graphmount._support.arguments import is_text, require_choice
from graphmount._support.shown import shown
from graphmount._support.text_columns import TextColumn
from graphmount.errors import OrderError, SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._compile.edges.intake import Ids
    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._sources.contract.requests import OnError
    from graphmount._sources.contract.tables import Table
    from graphmount._support.text_columns import Keys


@dataclass(frozen=True, kw_only=True)
class KnownNodes:
    """What is known of the nodes before the edges are read.

    Attributes:
        count: How many there are; None if nobody knows yet.
        has_text_ids: Whether the source calls them by text rather than by numbers.
        is_numbered: Whether the source calls them 0, 1, 2 and so on.
    """

    count: int | None
    has_text_ids: bool
    is_numbered: bool


def known_nodes(
    source: EdgeSource, ids: Ids, node_ids: Keys | None, num_nodes: int | None
) -> KnownNodes:
    """What is known of the nodes.

    Args:
        source: The edges.
        ids: Whether ids are numbers of nodes, or keys to be numbered.
        node_ids: The ids of all nodes, if they are given.
        num_nodes: How many nodes there are, if that is known.
    """
    is_open = ids == "map" and node_ids is None
    return KnownNodes(
        count=None if is_open else num_nodes,
        has_text_ids=source.has_text_ids if is_open else isinstance(node_ids, TextColumn),
        is_numbered=ids == "dense" and node_ids is None,
    )


def check_options(
    order: str | ArrayLike, *, overwrite: bool, has_edge_tables: bool, on_error: OnError
) -> None:
    """Raises if options of `compile_dataset` are wrong, or do not go together.

    Args:
        order: The order, as it is given.
        overwrite: Whether a dataset may be replaced.
        has_edge_tables: Whether there are tables of edges.
        on_error: What to do with rows that cannot be used.
    """
    if isinstance(order, str):
        require_choice("order", order, ("hot", "given"))
    require_choice("overwrite", overwrite, (False, True))
    if has_edge_tables and on_error == "skip":
        raise ValueError("edge_features= does not go with on_error='skip': rows would not match")


def check_parts(
    nodes: KnownNodes,
    source: EdgeSource,
    *,
    node_tables: Mapping[str, tuple[Table, RowSource]],
    edge_tables: Mapping[str, tuple[Table, RowSource]],
    splits: Mapping[str, NDArray[Any]],
    order: str | ArrayLike,
    notes: Sequence[str],
) -> None:
    """Raises if a part of a dataset is wrong by itself, or does not go with the others.

    Args:
        nodes: What is known of the nodes.
        source: The edges.
        node_tables: Tables of nodes and their opened sources, by their files.
        edge_tables: Those of edges.
        splits: Splits by name, as `read_splits` gives them.
        order: The order, as it is given.
        notes: The notes, which are strings.
    """
    for table, rows in node_tables.values():
        _check_node_table(table, rows, nodes)
    for table, rows in edge_tables.values():
        _check_edge_table(table, rows, source)
    for name, split in splits.items():
        _check_split(split, name, nodes)
    if not isinstance(order, str):
        as_scores(order, nodes.count)
    _check_notes(notes)


def _check_node_table(table: Table, rows: RowSource, nodes: KnownNodes) -> None:
    check_table(rows, table)
    if rows.has_keys and rows.has_text_keys != nodes.has_text_ids:
        kinds = ("text", "numbers") if rows.has_text_keys else ("numbers", "text")
        raise ValueError(
            f"the keys of {rows.name} are {kinds[0]}, but the ids of nodes are {kinds[1]}"
        )


def _check_edge_table(table: Table, rows: RowSource, source: EdgeSource) -> None:
    check_table(rows, table)
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


def _check_notes(notes: Sequence[str]) -> None:
    for place, note in enumerate(notes):
        if not is_text(note):
            raise ValueError(f"notes[{place}], {shown(note)}, is no text that can be written")
    # Half of what a description may have, as a character takes up to four bytes.
    if sum(len(note) for note in notes) > MOST_BYTES // 8:
        raise ValueError(
            f"notes have more than {MOST_BYTES // 8:,} characters; give fewer or shorter notes="
        )
