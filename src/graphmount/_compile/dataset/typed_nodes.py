"""The nodes of one type on their way into a dataset: their ids, tables, splits and order."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount import _core
from graphmount._compile.dataset.checks import check_node_parts
from graphmount._compile.dataset.files import open_one, open_tables
from graphmount._compile.dataset.labels import add_labels
from graphmount._compile.dataset.nodes import KnownNodes, count_nodes, read_keys, require_keys
from graphmount._compile.dataset.split_columns import with_column
from graphmount._compile.dataset.splits import read_splits
from graphmount._compile.edges.key_map import KeyMap
from graphmount._dataset.spaces.node_id_store import NodeIdStore
from graphmount._dataset.spaces.node_space import NodeSpace
from graphmount._sources.contract.claims import MOST_NODES, is_plausible
from graphmount._sources.contract.node_keys import as_keys, take_keys
from graphmount._sources.contract.tables import Table
from graphmount._support.arguments import as_count, require_choice
from graphmount._support.display import Displayed
from graphmount._support.shown import shown
from graphmount._support.text_columns import TextColumn
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._sources.contract.tables import OnError
    from graphmount._support.text_columns import Keys

#: The file of the times of nodes.
TIMES_FILE = "timestamps.gd"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Nodes(Displayed):
    """The nodes of one type of a dataset, for `compile_dataset(nodes=…)`.

    The attributes have the names and meanings that they have as arguments of `compile_dataset`,
    for this type alone.

    Attributes:
        features: The tables of the nodes, by name: any sources that `compile_features` takes, or
            `Table`s.
        labels: The labels of the nodes: a source with one column, or a `Table`.
        splits: The nodes of each split, by the name of the split; or one column of splits.
        timestamps: The time of each node: an int64, in a source with one column, or a `Table`.
            Dates become seconds since 1970.
        num_nodes: The number of nodes. By default the number of rows of the tables, or the largest
            id in all relations plus one.
        node_ids: The external ids of all nodes, integers or strings, all different.
        ids: "dense" or "map", if it is another one for this type than for the others.

    Examples:
        >>> import graphmount as gm
        >>> gm.Nodes(num_nodes=3, labels=[0, 1, 1])
        Nodes(features=None, labels=[0, 1, 1], splits=None, timestamps=None, num_nodes=3,...
    """

    features: Mapping[str, Any] | None = None
    labels: Any = None
    splits: Mapping[str, Any] | Table | str | None = None
    timestamps: Any = None
    num_nodes: int | None = None
    node_ids: ArrayLike | Sequence[str] | None = None
    ids: Literal["dense", "map"] | None = None


class OpenedNodes:
    """A node type whose tables are open.

    Args:
        name: The name of the type.
        nodes: As they are given.
        ids: "dense" or "map", where the nodes do not say.
        on_error: What to do with rows that cannot be read.
        memory: The budget of all of the work, in bytes.

    Attributes:
        name: See above.
        is_mapped: Whether ids are keys to be numbered.
        keys: The external ids of all nodes, where they are given.
        num_nodes: How many there are; None if that is not known yet.
        tables: Tables by their files, in the folder of the type.
        classes: The texts of labels that were text.
        splits: Splits by name.
    """

    def __init__(
        self, name: str, nodes: Nodes, *, ids: str, on_error: OnError, memory: int
    ) -> None:
        if not isinstance(nodes, Nodes):
            raise TypeError(f"the nodes of a type are gm.Nodes(…), not {shown(nodes)}")
        require_choice("ids", nodes.ids, (None, "dense", "map"))
        self.name = name
        self._nodes = nodes
        self._on_error = on_error
        self._memory = memory
        self._has_text: bool | None = None
        self._map: KeyMap | None = None
        self._claimed = 0
        self._told: tuple[int, str] | None = None  # what a source says, and which one
        self.is_mapped = (nodes.ids or ids) == "map"
        self.keys: Keys | None = None
        if nodes.node_ids is not None:
            self.keys = as_keys(nodes.node_ids, "node_ids")
        if self.is_mapped and self.keys is None and nodes.num_nodes is not None:
            raise ValueError(
                "num_nodes= does not go with ids='map', where nodes are the ids that appear; pass "
                "node_ids= with the ids of all nodes"
            )
        self.tables = open_tables(nodes.features, "features", on_error=on_error)
        self.classes = add_labels(self.tables, nodes.labels, on_error=on_error, memory=memory)
        if nodes.timestamps is not None:
            self.tables[TIMES_FILE] = open_times(nodes.timestamps, on_error)
        rows = [table.rows for table in self.tables.values()]
        self.num_nodes: int | None = None
        if self.is_mapped and self.keys is None:
            require_keys(rows)
        else:
            self.num_nodes = count_nodes(nodes.num_nodes, self.keys, rows)
            if nodes.num_nodes is not None:
                as_count(nodes.num_nodes, "num_nodes", most=MOST_NODES)
        for table in rows:
            if self.is_mapped and table.has_keys:
                self.require_kind(table.has_text_keys, table.name)
        if self.is_mapped and self.keys is not None:
            self.require_kind(isinstance(self.keys, TextColumn), "node_ids")
        self.splits: dict[str, NDArray[Any]] = {}

    def require_kind(self, has_text: bool, where: str) -> None:
        """Raises if ids of this type are text in one source and numbers in another."""
        if self._has_text is None:
            self._has_text = has_text
        elif self._has_text != has_text:
            kinds = ("text", "integers") if has_text else ("integers", "text")
            raise SourceError(
                f"the ids of node type {self.name!r} are {kinds[0]} in {where}, and {kinds[1]} "
                "elsewhere; pass key_type='str' to read text files so, or give the same kind "
                "everywhere"
            )

    def check(self) -> None:
        """Reads the splits, and checks all parts, before hours of reading edges."""
        have_order = not self.is_mapped or self.keys is not None
        has_text = isinstance(self.keys, TextColumn) if have_order else bool(self._has_text)
        known = KnownNodes(
            count=self.num_nodes if have_order else None,
            has_text_ids=has_text,
            is_numbered=not self.is_mapped and self.keys is None,
            have_order=have_order,
        )
        self.splits = read_splits(with_column(self._nodes.splits, self.tables), known)
        check_node_parts(known, self.tables, self.splits, name=f"node type {self.name!r}")

    def start(self) -> None:
        """Makes the map of ids, with those that tables name."""
        if not self.is_mapped:
            return
        self._map = KeyMap(
            f"node type {self.name!r}", is_text=bool(self._has_text), memory=self._memory // 2
        )
        if self.keys is not None:
            self._map.fill(self.keys)
            return
        for table in self.tables.values():
            for some in read_keys(table.rows, memory=self._memory // 16):
                self._map.add_all(some)

    @property
    def is_closed(self) -> bool:
        """Whether ids that are not known yet are errors."""
        return self.is_mapped and self.keys is not None

    def numbers(self, keys: Keys) -> NDArray[np.int64]:
        """The numbers of ids; those that cannot have one are -1."""
        if self._map is None:
            assert isinstance(keys, np.ndarray)  # noqa: S101  (text was refused)
            return keys
        return self._map.find(keys) if self.keys is not None else self._map.add_all(keys)

    def both_numbers(self, src: Keys, dst: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same for both ends of edges within this type: numbered edge by edge."""
        if self._map is not None and self.keys is None:
            return self._map.add(src, dst)
        return self.numbers(src), self.numbers(dst)

    @property
    def map_bytes(self) -> int:
        """What the map of ids takes."""
        return 0 if self._map is None else self._map.memory_bytes

    def claim(self, count: int, where: str) -> None:
        """Notes that a relation has so many of these nodes, or more.

        Args:
            count: The largest id plus one.
            where: What messages call its source.

        Raises:
            SourceError: Another relation says that there are fewer.
        """
        if self.num_nodes is None and self._told is not None and count > self._told[0]:
            raise SourceError(
                f"{where} has node {count - 1} of type {self.name!r}, and {self._told[1]} says "
                f"that there are {self._told[0]}; pass gm.Nodes(num_nodes=…) with the right number"
            )
        self._claimed = max(self._claimed, count)

    def claim_all(self, count: int, where: str) -> None:
        """Notes that the source of a relation says that there are so many of these nodes.

        Args:
            count: What it says, as a graph file does.
            where: What messages call the source.

        Raises:
            SourceError: Another source says that there are more or fewer.
        """
        if self.num_nodes is None and self._told is not None and count != self._told[0]:
            raise SourceError(
                f"{where} says that there are {count} nodes of type {self.name!r}, and "
                f"{self._told[1]} says {self._told[0]}; pass gm.Nodes(num_nodes=…) with the right "
                "number"
            )
        self._told = (count, where)
        self._claimed = max(self._claimed, count)

    def settle(self, num_edges: int) -> int:
        """How many nodes there are, when all relations have been read.

        Args:
            num_edges: How many edges name them.

        Raises:
            SourceError: Nobody says how many there are, or there would be too many to believe.
        """
        if self._map is not None:
            self.num_nodes = len(self._map)
            self.keys = self._map.keys() if self.keys is None else self.keys
            self._map = None
        elif self.num_nodes is None:
            if self._claimed == 0:
                raise SourceError(
                    f"node type {self.name!r} has no tables, and no edges name its nodes; pass "
                    "gm.Nodes(num_nodes=…)"
                )
            if not is_plausible(self._claimed, num_edges):
                raise SourceError(
                    f"node id {self._claimed - 1} would make {self._claimed} nodes of type "
                    f"{self.name!r} for {num_edges} edges; pass gm.Nodes(num_nodes=…) if there are "
                    "so many, or ids='map' to number only the ids that occur"
                )
            self.num_nodes = self._claimed
        return self.num_nodes

    def write_ids(self, path: str, new_to_old: NDArray[Any] | None, *, memory: int) -> NodeSpace:
        """Writes the file of ids, if there are any; returns the nodes as the dataset has them."""
        external: Keys | None = self.keys
        if new_to_old is not None:
            external = new_to_old if self.keys is None else take_keys(self.keys, new_to_old)
        self.keys = None  # no longer needed
        count = self.num_nodes or 0
        if external is None or count == 0:
            return NodeSpace(self.name, count, _core.typed_order(self.name))
        columns: dict[str, Any] = {"node_numbers": external}
        if isinstance(external, TextColumn):
            columns = {"node_names": (external.offsets, external.data)}
        order = _core.typed_order(self.name, **columns)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _core.write_node_ids(os.fsencode(path), order=order, memory=memory, **columns)
        return NodeSpace(self.name, count, order, NodeIdStore(path))


def open_times(timestamps: object, on_error: OnError) -> OpenedTable:
    """The table of the times of nodes.

    Args:
        timestamps: As they are given: a `Table`, or any source of rows.
        on_error: What to do with rows that cannot be read.

    Raises:
        SourceError: They are no integers, or several columns.
        ValueError: They are to be stored as something else than int64.
    """
    table = timestamps if isinstance(timestamps, Table) else Table(source=timestamps)
    if table.dtype is not None and np.dtype(table.dtype) != np.int64:
        raise ValueError(f"timestamps are stored as int64, not as {shown(table.dtype)}")
    opened = open_one(TIMES_FILE, replace(table, dtype="int64"), on_error=on_error, is_time=True)
    if opened.rows.num_columns != 1:
        raise SourceError(
            f"{opened.rows.name}: the times of nodes are one column, not "
            f"{opened.rows.num_columns}; choose it with gm.Table(source=…, columns=[…])"
        )
    if opened.rows.dtype.startswith(("float", "bfloat")):
        raise SourceError(f"{opened.rows.name}: times are integers, not {opened.rows.dtype}")
    return opened
