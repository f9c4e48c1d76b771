"""How our own code reads mounted files: as copies, which the core makes and checks.

Views are only for users. If the file is truncated, touching a view ends the process, and a view
shows whatever another process writes to the file. So no module of ours reads a view;
`tests/python/project/test_mapped_reads.py` lists the modules that hand views out. A call that
copies returns the copy, or raises `FileChangedError` or `FormatError`. A checked copy cannot
change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from graphmount._support.arguments import as_native
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._support.direction import Direction

_NODES_AT_ONCE = 1 << 20


def has_list_section(graph: Graph, name: str, direction: Direction) -> bool:
    """Whether the lists of a direction have such a section, as "weights"."""
    return graph._open().has_list_section(name, direction)  # noqa: SLF001  (as all of this module)


def require_source_rows(graph: Graph, option: str = "") -> None:
    """Raises unless a graph knows the rows that its edges had in the source.

    Args:
        graph: The graph.
        option: What needs them, for the message.

    Raises:
        MissingDataError: It does not.
    """
    if not has_list_section(graph, "source rows", graph.directions[0]):
        raise MissingDataError(
            f"{option}{graph.path} does not know the rows that edges had in its source; compile it "
            "with source_rows=True"
        )


def read_list_section(
    graph: Graph, name: str, direction: Direction, first: int = 0, count: int | None = None
) -> NDArray[Any]:
    """A copy of items of a section: int64, or float32 for weights.

    Args:
        graph: The graph.
        name: "indptr", "indices", "weights", "timestamps", "edge ids" or "source rows".
        direction: Whose lists.
        first: The first item.
        count: How many; None for all edges from there on.

    Raises:
        FormatError: Offsets do not ascend, or an id does not exist; with the section and the byte.
        MissingDataError: There is no such section.
        FileChangedError: The file was cut.
    """
    core = graph._open()  # noqa: SLF001
    some = core.num_edges - first if count is None else count
    return as_native(cast("NDArray[Any]", core.read_list(name, direction, first, some)))


class ListOffsets:
    """Where the lists of a direction begin, and where the last one ends, read one by one.

    Args:
        graph: The graph.
        direction: Whose lists.
    """

    def __init__(self, graph: Graph, direction: Direction) -> None:
        self._graph = graph
        self._direction: Direction = direction

    def __len__(self) -> int:
        return self._graph._num_lists(self._direction) + 1  # noqa: SLF001

    def __getitem__(self, node: int) -> int:
        return int(read_list_section(self._graph, "indptr", self._direction, node, 1)[0])


def read_degrees(
    graph: Graph, direction: Direction, *, at_once: int = _NODES_AT_ONCE
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The degrees of all nodes, some at a time, each time with the first node of these."""
    num_lists = graph._num_lists(direction)  # noqa: SLF001
    for first in range(0, num_lists, at_once):
        count = min(at_once, num_lists - first)
        yield first, np.diff(read_list_section(graph, "indptr", direction, first, count + 1))


def gather_list_values(
    graph: Graph,
    name: Literal["weights", "timestamps", "source rows"],
    direction: Direction,
    positions: NDArray[np.int64],
) -> NDArray[Any]:
    """What the entries at these positions of the lists have.

    Raises:
        IdError: A position does not exist.
        MissingDataError: There is no such section.
        FileChangedError: The file was cut.
    """
    core = graph._open()  # noqa: SLF001
    return as_native(cast("NDArray[Any]", core.gather_list(name, direction, positions)))


def read_rows(store: FeatureStore, first: int = 0, count: int | None = None) -> NDArray[Any]:
    """A copy of rows as they are stored; bfloat16 comes as uint16 bits, as in `numpy`.

    Raises:
        IdError: There are not so many rows.
        FileChangedError: The file was cut.
    """
    core = store._open()  # noqa: SLF001
    dtype = np.dtype("uint16" if store.dtype == "bfloat16" else store.dtype)
    some = max(0, len(store) - first) if count is None else count
    out = np.empty((some, *store.shape[1:]), dtype)
    core.read_rows(first, out.reshape(-1).view(np.uint8))
    return out
