"""Which nodes a dataset has, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.order.new_ids import (
    MOST_NARROW,
    inverted,
    keys_bytes,
    ordering_bytes,
    require_ordering,
)
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.node_keys import take_keys
from graphmount._support.arguments import as_count, as_native, as_plain
from graphmount._support.text_columns import TextColumn
from graphmount.errors import OrderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from graphmount._compile.edges.intake import EdgeIntake, Ids
    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._support.text_columns import Keys

#: For each node, what sorting scores takes: places, a copy of the scores, and room to sort in.
_SORTING_BYTES = 20


@dataclass(frozen=True, kw_only=True)
class KnownNodes:
    """What is known of the nodes before the edges are read.

    Attributes:
        count: How many there are; None if that is not known yet.
        has_text_ids: Whether the source calls them by text rather than by numbers.
        is_numbered: Whether the source calls them 0, 1, 2 and so on.
        have_order: Whether their order is known, in which masks and tables without keys have them.
    """

    count: int | None
    has_text_ids: bool
    is_numbered: bool
    have_order: bool


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
    have_order = ids == "dense" or node_ids is not None
    return KnownNodes(
        count=num_nodes if have_order else None,
        has_text_ids=isinstance(node_ids, TextColumn) if have_order else source.has_text_ids,
        is_numbered=ids == "dense" and node_ids is None,
        have_order=have_order,
    )


def _known_num_nodes(tables: Iterable[RowSource]) -> int | None:
    """How many rows the tables without keys have: one for each node. None if none of them knows."""
    known: RowSource | None = None
    for table in tables:
        if table.has_keys or table.num_rows is None:
            continue
        if known is not None and known.num_rows != table.num_rows:
            raise OrderError(
                f"{known.name} has {known.num_rows} rows, and {table.name} has {table.num_rows}"
            )
        known = table
    return None if known is None else known.num_rows


def read_keys(table: RowSource, *, memory: int) -> Iterator[Keys]:
    """The keys of a table, batch by batch; nothing if it has none."""
    if not table.has_keys:
        return
    for batch in table.batches(memory=memory):
        if batch.keys is not None:
            yield batch.keys
    require_unchanged(table)
    # The pass that reads the rows leaves the same ones out again.
    table.skipped.clear()


def count_nodes(
    num_nodes: int | None, node_ids: Keys | None, tables: Iterable[RowSource]
) -> int | None:
    """How many nodes there are, if that is known; raises if a table has more or fewer rows."""
    known = _known_num_nodes(tables)
    expected = None if num_nodes is None else as_count(num_nodes, "num_nodes")
    if expected is None and node_ids is not None:
        expected = len(node_ids)
    if None not in (known, expected) and known != expected:
        raise OrderError(f"the tables of nodes have {known} rows, but there are {expected} nodes")
    return known if expected is None else expected


def require_keys(tables: Iterable[RowSource]) -> None:
    """Raises for a table without keys: without node_ids, its rows belong to unknown nodes."""
    for table in tables:
        if not table.has_keys:
            raise ValueError(
                f"{table.name} has no keys, and with ids='map' nodes are numbered as they appear; "
                "pass Table(source=…, key=…), or node_ids= with the ids in the order of the rows"
            )


def check_ordering(order: str | ArrayLike, num_nodes: int, keys: Keys | None, budget: int) -> int:
    """What ordering nodes takes, in bytes.

    Raises:
        BudgetError: More than half of the budget.
    """
    if isinstance(order, str) and order == "given":
        return 0
    needed = ordering_bytes(num_nodes, keys)
    if not isinstance(order, str):
        needed += _SORTING_BYTES * num_nodes
    require_ordering(needed, num_nodes, budget)
    return needed


def choose_order(
    intake: EdgeIntake,
    order: str | ArrayLike,
    budget: int,
    report: Callable[[int, int], None] | None,
) -> tuple[NDArray[Any] | None, Keys | None]:
    """The new number of each node, if they get new ones, and the external ids in that order.

    What these take is no longer in the budget of the edges.
    """
    keys = intake.take_keys()
    if isinstance(order, str) and order == "given":
        return None, keys
    num_nodes = intake.num_nodes
    needed = check_ordering(order, num_nodes, keys, budget)
    intake.set_memory(max(0, budget - needed - keys_bytes(keys)))
    if isinstance(order, str):
        new_ids = as_native(intake.hot_ids(wide=num_nodes > MOST_NARROW, report=report))
    else:
        new_ids = inverted(_by_scores(as_scores(order, num_nodes)))
    new_to_old = inverted(new_ids)
    external: Keys = new_to_old if keys is None else take_keys(keys, new_to_old)
    held = new_ids.nbytes + keys_bytes(external)
    intake.set_memory(budget - held)
    return new_ids, external


def _by_scores(scores: NDArray[Any]) -> NDArray[np.int64]:
    """The nodes by their scores, those with the highest first, equal ones in their order."""
    # Reversed twice, so that equal ones stay in order. Values are not converted: large integers
    # could become equal as floats.
    nodes = np.argsort(scores[::-1], kind="stable")
    np.subtract(len(scores) - 1, nodes, out=nodes)
    return nodes[::-1]


def as_scores(order: ArrayLike, num_nodes: int | None) -> NDArray[Any]:
    """The scores that nodes are ordered by.

    Args:
        order: As they are given.
        num_nodes: How many nodes there are, if that is known.

    Raises:
        ValueError: They are not one number for each node.
    """
    scores = as_plain(order, "order")
    if scores.ndim != 1 or scores.dtype.kind not in "fiu" or num_nodes not in (None, len(scores)):
        nodes = "node" if num_nodes is None else f"of the {num_nodes} nodes"
        raise ValueError(
            f"order= takes one number for each {nodes}, not an array of shape {scores.shape} and "
            f"dtype {scores.dtype}"
        )
    if np.isnan(scores).any():
        raise ValueError(f"order= has NaN for node {int(np.argmax(np.isnan(scores)))}")
    return scores
