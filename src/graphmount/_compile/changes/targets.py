"""What a change is made to: a dataset of one node type, a node type of many, or a relation.

A target knows its parts in a description, whichever version of it is in the folder, and whether the
folder still has the nodes and edges that the caller has open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._dataset.opening import changed
from graphmount._dataset.typed_description import (
    is_typed,
    relation_of,
    shown_relation,
    typed_files,
)
from graphmount._dataset.typed_opening import handle_type

if TYPE_CHECKING:
    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_opening import TypedFiles
    from graphmount._mount.graph import Graph
    from graphmount._support.files.opened_folder import OpenedFolder

#: Kinds of files of which a part has one or none, and which have no name.
SINGLE_KINDS = ("labels", "timestamps")
#: Kinds of files that have names.
NAMED_KINDS = ("features", "edge_features", "splits")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a description.

    Attributes:
        entry: What the description says of it, which a change edits.
        folder: Where its files are, from the folder of the dataset on; "" or with a slash at the
            end.
        shown: What messages call it.
        graph: The edges that its tables of edges belong to, if it has any.
    """

    entry: dict[str, Any]
    folder: str
    shown: str
    graph: Graph | None = None

    def files(self) -> dict[tuple[str, str | None], str]:
        """The files of tables, labels, times and splits, by kind and name."""
        found: dict[tuple[str, str | None], str] = {}
        for kind in NAMED_KINDS:
            found |= {(kind, name): file for name, file in self.entry.get(kind, {}).items()}
        for kind in SINGLE_KINDS:
            if self.entry.get(kind) is not None:
                found[kind, None] = self.entry[kind]
        return found


class Target(ABC):
    """What a change is made to.

    Attributes:
        path: The folder of the dataset.
        nodes: The nodes that rows and splits are of. A relation has none: tables of nodes are of
            types.
        graphs: The graphs whose edges a table of edges is of.
    """

    path: str
    nodes: Graph | NodeSpace
    graphs: list[Graph]

    def folder_of(self, kind: str) -> str:
        """The folder of tables of a kind, in the folder of a part."""
        return kind

    @abstractmethod
    def parts(self, description: dict[str, Any]) -> list[Part]:
        """The parts of a description that a change of this target edits, at least one."""

    @abstractmethod
    def require_same(self, folder: OpenedFolder, description: dict[str, Any]) -> None:
        """Raises if the folder has other nodes or edges by now.

        Raises:
            DatasetChangedError: It has.
        """


class OneTypeTarget(Target):
    """A dataset of one node type."""

    def __init__(self, dataset: Dataset) -> None:
        self.path = dataset.path
        self.nodes = self._graph = dataset.graph
        self.graphs = [self._graph]

    def parts(self, description: dict[str, Any]) -> list[Part]:
        """The description is the one part."""
        return [Part(entry=description, folder="", shown=self.path, graph=self._graph)]

    def require_same(self, folder: OpenedFolder, description: dict[str, Any]) -> None:
        """Compares the graph."""
        if not is_typed(description):
            with handle_type("graph")._open_inside(folder, description["graph"]) as graph:  # noqa: SLF001
                if graph._content == self._graph._content:  # noqa: SLF001
                    return
        raise changed(
            self.path, "has another graph by now: it was replaced; open it again, and try again"
        )


class _TypedTarget(Target):
    """A part of a dataset of many node types."""

    def __init__(self, files: TypedFiles) -> None:
        self.path = files.path
        self.graphs = []
        self._files = files

    def _graph(self, edge_type: EdgeType) -> Graph:
        """The graph of a relation, as the caller has it open."""
        for entry in self._files.description["edge_types"]:
            if relation_of(entry) == edge_type:
                graph: Graph = self._files.handles[entry["graph"]]  # type: ignore[assignment]
                return graph
        raise KeyError(edge_type)  # whoever asks has a relation of this dataset

    def require_same(self, folder: OpenedFolder, description: dict[str, Any]) -> None:
        """Compares the nodes of all types, and the edges of all relations."""
        ours = self._files.description
        if is_typed(description) and _orders(description) == _orders(ours):
            fixed = _fixed_files(ours)
            if fixed == _fixed_files(description) and all(
                self._is_same(folder, kind, file) for kind, _, file in fixed
            ):
                return
        raise changed(
            self.path,
            "has other nodes or relations by now: it was replaced; open it again, and try again",
        )

    def _is_same(self, folder: OpenedFolder, kind: str, file: str) -> bool:
        with handle_type(kind)._open_inside(folder, file) as handle:  # noqa: SLF001
            same: bool = handle._content == self._files.handles[file]._content  # noqa: SLF001
            return same


class NodesTarget(_TypedTarget):
    """The nodes of one type."""

    def __init__(self, files: TypedFiles, space: NodeSpace) -> None:
        super().__init__(files)
        self.nodes = self._space = space

    def parts(self, description: dict[str, Any]) -> list[Part]:
        """What the description says of the type."""
        name = self._space.type_name
        return [
            Part(
                entry=description["node_types"][name],
                folder=f"nodes/{name}/",
                shown=f"node type {name!r} of {self.path}",
            )
        ]


class EdgesTarget(_TypedTarget):
    """The edges of a relation, which are those of its reverse too."""

    def __init__(self, files: TypedFiles, edge_type: EdgeType) -> None:
        super().__init__(files)
        self._edge_type = edge_type
        parts = self.parts(files.description)
        self.graphs = [part.graph for part in parts if part.graph is not None]

    def folder_of(self, kind: str) -> str:
        """What is in the folder of a relation is of edges."""
        return "features" if kind == "edge_features" else kind

    def parts(self, description: dict[str, Any]) -> list[Part]:
        """What the description says of the relation, and of its reverse."""
        by_type = {relation_of(entry): entry for entry in description["edge_types"]}
        original = _original(by_type[self._edge_type])
        chosen = [self._edge_type]
        chosen += [
            other
            for other, entry in by_type.items()
            if other != self._edge_type and _original(entry) == original
        ]
        return [
            Part(
                entry=by_type[one],
                folder=f"edges/{'/'.join(one)}/",
                shown=f"relation {shown_relation(one)} of {self.path}",
                graph=self._graph(one),
            )
            for one in chosen
        ]


def _original(entry: dict[str, Any]) -> EdgeType:
    """The relation whose edges these are: the same, or that of which it is the reverse."""
    source, name, destination = entry.get("reverse_of") or entry["relation"]
    return source, name, destination


def _orders(description: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """How many nodes each type has, and in which order."""
    return {
        name: (entry["num_nodes"], entry["order"])
        for name, entry in description["node_types"].items()
    }


def _fixed_files(description: dict[str, Any]) -> set[tuple[str, str | None, str]]:
    """The files that changes leave as they are: ids and graphs."""
    return {one for one in typed_files(description) if one[0] in ("ids", "graph")}
