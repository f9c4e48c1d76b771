"""The order of the nodes of each type, chosen one type after the other, and what memory is left.

The edges of all relations wait meanwhile. What a type needs to be ordered, or a relation to be
written, comes first: edges that wait go to the disk where memory would not be enough for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.typed_names import naming
from graphmount._compile.order.new_id_store import NewIdStore
from graphmount._compile.order.new_ids import (
    hot_ids,
    inverted,
    keys_bytes,
    new_ids_bytes,
    ordering_bytes,
    require_ordering,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._compile.dataset.typed_nodes import OpenedNodes
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._dataset.typed.results import EdgeType

#: What part of the budget the new numbers of all types may take to stay in memory.
_KEPT_PART = 8
#: What part of it the tables take by which ids are found, while they are made.
_TABLE_PART = 8
#: Writing the ids of a node is as much work as counting so many entries.
_ENTRIES_PER_NODE = 4


class TypedOrder:
    """Chooses the order of each node type, and keeps the new numbers of nodes.

    Args:
        types: All node types.
        is_hot: Whether nodes that sampling meets most often come first; else they stay in order.
        memory: The budget of all of the work, in bytes.
        folder: Where temporary files may be made.
    """

    def __init__(
        self, types: Mapping[str, OpenedNodes], *, is_hot: bool, memory: int, folder: str
    ) -> None:
        self._types = types
        self._is_hot = is_hot
        self._memory = memory
        self._store = NewIdStore(memory=memory // _KEPT_PART, folder=folder)
        self._waiting: list[_core.GraphCompiler] = []

    def check(self) -> None:
        """Raises if types whose number of nodes is known cannot be ordered within the budget.

        Raises:
            BudgetError: One cannot.
        """
        for nodes in self._types.values() if self._is_hot else ():
            if nodes.num_nodes is not None:
                self._needed(nodes)

    def _needed(self, nodes: OpenedNodes) -> int:
        num_nodes = nodes.num_nodes or 0
        needed = ordering_bytes(num_nodes, nodes.keys)
        require_ordering(needed, num_nodes, self._memory, f" of type {nodes.name!r}")
        return needed

    def write_ids(
        self,
        cores: Sequence[tuple[EdgeType, _core.GraphCompiler]],
        files: Mapping[str, str],
        report: Callable[[int, int], None] | None,
    ) -> dict[str, NodeSpace]:
        """Chooses the order of each type, and writes its file of ids.

        Args:
            cores: All relations and their reverses, with what has their edges.
            files: The files of ids, by type.
            report: Called with what is done and what there is to do.

        Returns:
            The nodes of each type, as the dataset has them.

        Raises:
            BudgetError: A type has too many nodes to be ordered within the budget.
            OSError: A file cannot be written.
        """
        self._waiting = [core for _, core in cores]
        counts = {name: nodes.num_nodes or 0 for name, nodes in self._types.items()}
        kept = sum(map(new_ids_bytes, counts.values()))
        work = {
            name: _ENTRIES_PER_NODE * count + sum(core.num_rows for core in _met_in(name, cores))
            for name, count in counts.items()
        }
        done, total = 0, sum(work.values())
        spaces = {}
        for name, nodes in self._types.items():
            with naming(f"node type {name!r}"):
                new_to_old = None
                if self._is_hot:
                    self._make_room(self._needed(nodes))

                    def tell(counted: int, _: int, before: int = done) -> None:
                        if report is not None:
                            report(min(before + counted, total), total)

                    new_ids = hot_ids(counts[name], _met_in(name, cores), tell)
                    new_to_old = inverted(new_ids)
                    self._store.keep(name, new_ids, total=kept)
                    del new_ids
                spaces[name] = nodes.write_ids(files[name], new_to_old, memory=self._memory)
            done += work[name]
            if report is not None:
                report(done, total)
        return spaces

    def _make_room(self, needed: int) -> None:
        """Sends edges that wait to the disk, if memory is not enough for both."""
        keys = sum(keys_bytes(nodes.keys) for nodes in self._types.values() if nodes.is_mapped)
        needed += keys + self._store.held_bytes + self._memory // _TABLE_PART
        if needed + self._waiting_bytes() > self._memory:
            self._spill()

    def _waiting_bytes(self) -> int:
        return sum(core.waiting_bytes for core in self._waiting)

    def _spill(self) -> None:
        for core in self._waiting:
            core.set_memory(0, parts=2)

    def load_for_edges(
        self, edge_type: EdgeType, core: _core.GraphCompiler
    ) -> dict[str, NDArray[Any] | None]:
        """The new numbers of both ends of a relation, which is the next one that is written.

        Args:
            edge_type: The relation, or its reverse.
            core: What has its edges; it gets the budget that is left, at least half of all.
        """
        new_ids = self._store.load(edge_type[0], edge_type[2])
        self._waiting = [one for one in self._waiting if one is not core]
        held = self._store.held_bytes
        if held + self._waiting_bytes() > self._memory // 2:
            self._spill()
        core.set_memory(self._memory - held - self._waiting_bytes(), parts=2)
        return new_ids

    def load_for_rows(self, name: str) -> tuple[NDArray[Any] | None, int]:
        """The new numbers of a type, and the budget that is left to write its tables.

        Args:
            name: The type.
        """
        new_ids = self._store.load(name)[name]
        return new_ids, self._memory - self._store.held_bytes

    def close(self) -> None:
        """Lets go of all numbers."""
        self._store.close()


def _met_in(
    name: str, cores: Sequence[tuple[EdgeType, _core.GraphCompiler]]
) -> list[_core.GraphCompiler]:
    """Those in whose lists sampling meets nodes of a type: incoming lists have sources in them."""
    return [
        core
        for edge_type, core in cores
        if name == (edge_type[0] if core.first_direction == "in" else edge_type[2])
    ]
