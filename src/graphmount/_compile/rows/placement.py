"""Where rows go: to the nodes that their keys name, or to places that are known before.

Keys that name no node are an error that says which row has them; or the rows are left out and
counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.edges.key_map import shown_key
from graphmount._sources.contract.batches import MOST_EXAMPLES, Skipped
from graphmount._support.text_columns import TextColumn
from graphmount.errors import OrderError, SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._mount.graph import Graph
    from graphmount._sources.contract.batches import RowBatch, RowSource
    from graphmount._sources.contract.tables import OnError
    from graphmount._support.text_columns import Keys


def require_order(rows: RowSource, order: int, name: str) -> None:
    """Raises if rows without keys know that they are in the order of other nodes.

    Args:
        rows: The rows, of which most know nothing: they are in the order of the source.
        order: The order that they should be in.
        name: Whose order that is.

    Raises:
        OrderError: Their order is another one.
    """
    if rows.has_keys or rows.order in (0, order):
        return
    raise OrderError(
        f"{rows.name} is in the order of another graph ({rows.order:#x}) than {name} ({order:#x}); "
        "give the ids of its rows as key=, which that graph knows (to_external), or compile it "
        "again from its source"
    )


class Placement(ABC):
    """Knows the node of each row.

    Args:
        num_rows: How many nodes there are; None if that is the largest one plus one.

    Attributes:
        num_rows: See above.
        skipped: Rows that belong to no node.
    """

    def __init__(self, num_rows: int | None) -> None:
        self.num_rows = num_rows
        self.skipped = Skipped()

    @abstractmethod
    def place(
        self, batch: RowBatch, first_row: int
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
        """The nodes of the rows of a batch.

        Args:
            batch: Some rows of the source.
            first_row: How many rows came before.

        Returns:
            Which rows of the batch belong to a node (None for all), and their nodes.

        Raises:
            SourceError: A row belongs to none; the message begins with the row.
        """

    def finish(self, num_rows: int) -> None:  # noqa: B027  (most have nothing to check)
        """Called when the source has been read, with the number of its rows; may raise."""

    def name_of(self, node: int) -> str:
        """What messages call a node: what the source calls it, or its number."""
        return str(node)


class ArrayPlacement(Placement):
    """Row i of the source goes to row `destinations[i]`: for nodes that were given new numbers."""

    def __init__(self, destinations: NDArray[Any], num_rows: int | None) -> None:
        super().__init__(num_rows)
        self._destinations = destinations

    def place(
        self, batch: RowBatch, first_row: int
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
        """All rows of the batch, and their destinations."""
        destinations = self._destinations[first_row : first_row + len(batch.rows)]
        if len(destinations) < len(batch.rows):
            raise SourceError(
                f"row {len(self._destinations)}: there is no node for it; "
                f"{len(self._destinations)} rows are expected"
            )
        return None, destinations.astype(np.int64, copy=False)


class KeyPlacement(Placement):
    """Rows go where their keys say: numbers of nodes, or external ids of a graph that has them.

    Args:
        source: A source with keys.
        graph: The graph, or the node type, whose nodes the keys name.
        num_nodes: How many nodes there are, if that is known.
        on_error: What to do with keys that name no node.

    Raises:
        ValueError: The keys are text and the ids numbers, or the other way round.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        graph: Graph | NodeSpace | None,
        num_nodes: int | None,
        on_error: OnError,
    ) -> None:
        has_external_ids = graph is not None and graph.node_id_type is not None
        wants_text = graph is not None and graph.node_id_type is str
        if source.has_text_keys and graph is None:
            raise ValueError(
                f"the keys of {source.name} are text; pass order= with the graph whose node ids "
                "they are"
            )
        if graph is not None and source.has_text_keys != wants_text:
            kinds = ("text", "numbers") if source.has_text_keys else ("numbers", "text")
            raise ValueError(
                f"the keys of {source.name} are {kinds[0]}, but the node ids of {graph.path} are "
                f"{kinds[1]}"
            )
        self._name = source.name
        self._graph = graph if has_external_ids else None
        self._on_error = on_error
        super().__init__(num_nodes if graph is None else graph.num_nodes)

    def place(
        self, batch: RowBatch, first_row: int
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
        """The rows of a batch whose keys name a node, and these nodes."""
        keys = batch.keys
        if keys is None:
            raise SourceError(f"row {first_row}: there is no key, although the source has keys")
        if self._graph is not None:
            nodes = self._graph._find(keys)  # noqa: SLF001  (to_internal that does not raise)
            is_stranger = nodes < 0
        elif isinstance(keys, TextColumn):
            raise SourceError(f"row {first_row}: the key is text, although the source has numbers")
        else:
            nodes = keys
            is_stranger = nodes < 0
            if self.num_rows is not None:
                is_stranger |= nodes >= self.num_rows
        if not is_stranger.any():
            return None, nodes
        strangers = np.flatnonzero(is_stranger)
        if self._on_error == "raise":
            raise SourceError(self._problem(keys, int(strangers[0]), first_row))
        self.skipped.add(
            len(strangers),
            [
                f"{self._name}, {self._problem(keys, int(i), first_row)}"
                for i in strangers[:MOST_EXAMPLES]
            ],
        )
        known = np.flatnonzero(~is_stranger)
        return known, nodes[known]

    def name_of(self, node: int) -> str:
        """Its external id, or its number."""
        if self._graph is None:
            return super().name_of(node)
        names: Sequence[Any] | NDArray[Any] = self._graph.to_external([node])
        return repr(names[0]) if isinstance(names, list) else str(names[0])

    def _problem(self, keys: Keys, place: int, first_row: int) -> str:
        row, shown = f"row {first_row + place}", shown_key(keys, place)
        if self._graph is not None:
            return f"{row}: no node of {self._graph.path} has the external id {shown}"
        if self.num_rows is None:
            return f"{row}: node {shown} does not exist: nodes are numbered from 0"
        return f"{row}: node {shown} does not exist: there are {self.num_rows} nodes"
