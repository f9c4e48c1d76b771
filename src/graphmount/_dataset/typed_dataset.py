"""A compiled folder with nodes and edges of many types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._dataset.node_type import NodeType, Relation
from graphmount._dataset.opening import changed
from graphmount._dataset.typed_description import relation_of
from graphmount._dataset.typed_opening import open_typed_files
from graphmount._support.display import Displayed, NamedParts, one_line
from graphmount._support.foreign_words import OPENING_WORDS
from graphmount._support.keywords import advises

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from graphmount._dataset.typed_description import EdgeType
    from graphmount._mount.handle import Advice, Content


class TypedDataset(Displayed):
    """A mounted folder of `compile_dataset(nodes=…)`; `Dataset(path)` opens it.

    Each node type has ids, tables, labels, splits and times of its own (`nodes`); each relation is
    a graph from one type to another (`edges`). Ids of a type that is in another order than its
    source are marked (`NodeIds`), and are refused where ids of another type are meant.

    All files are mounted when the dataset is opened. If the folder is replaced later, an open
    dataset stays as it was. A pickled dataset holds its path and facts that identify its files.
    Many threads may use a dataset at the same time, and so may a child of `fork`.

    Args:
        path: The path of the folder.
        advice: How the files will be used. "auto", the default, suits most uses; `Graph.advise`
            explains the other choices.

    Attributes:
        path: The path of the folder.
        description: The content of `dataset.json`, as a dict.
        nodes: The node types, by name: a `NodeType` each.
        edges: The relations, by (source type, name, destination type): a `Relation` each.

    Raises:
        FileNotFoundError: There is no such folder, it is not a dataset, or a file is missing.
        FormatError: The description or a file is damaged, is of a later version, or is a link.
        OrderError: A file is of other nodes than those of its type.
        DatasetChangedError: The folder was replaced while it was being opened, or has files of
            another version.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "mag",
        ...     nodes={"paper": gm.Nodes(features={"x": np.eye(3)}), "author": gm.Nodes()},
        ...     edges={("author", "writes", "paper"): ([0, 1, 1], [2, 2, 0])},
        ...     reverse=True,
        ... )
        >>> ds = gm.Dataset("mag")
        >>> ds.node_types, ds.edge_types[1]
        (('paper', 'author'), ('paper', 'rev_writes', 'author'))
        >>> papers = ds.nodes["paper"]
        >>> papers.features["x"].gather(papers.to_internal([2]))
        array([[0., 0., 1.]])
    """

    @advises(OPENING_WORDS)
    def __init__(self, path: str | os.PathLike[str], *, advice: Advice = "auto") -> None:
        self._advice: Advice = advice
        files = open_typed_files(path, advice=advice)
        self._contents = files.contents()
        self.path = files.path
        self.description = files.description
        self.nodes: Mapping[str, NodeType] = NamedParts(
            "node type",
            {
                name: NodeType(name, entry, files.handles)
                for name, entry in files.description["node_types"].items()
            },
        )
        self.edges: Mapping[EdgeType, Relation] = NamedParts(  # type: ignore[assignment]
            "relation",
            {
                relation_of(entry): Relation(relation_of(entry), entry, files.handles)  # type: ignore[misc]
                for entry in files.description["edge_types"]
            },
        )

    @property
    def node_types(self) -> tuple[str, ...]:
        """The names of the node types, in the order in which they were given."""
        return tuple(self.nodes)

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """The relations, in the order in which they were given."""
        return tuple(self.edges)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all types together."""
        return sum(nodes.num_nodes for nodes in self.nodes.values())

    @property
    def num_edges(self) -> int:
        """The number of edges of all relations together."""
        return sum(edges.num_edges for edges in self.edges.values())

    def __repr__(self) -> str:
        return one_line(
            f"<TypedDataset {self.path!r}: {len(self.nodes)} node types with {self.num_nodes:,} "
            f"nodes, {len(self.edges)} relations with {self.num_edges:,} edges>"
        )

    def _shown_fields(self) -> dict[str, object]:
        facts: dict[str, object] = {"path": self.path, "order": self.description.get("order")}
        for name, nodes in self.nodes.items():
            facts[f"nodes {name!r}"] = f"{nodes.num_nodes:,}"
        for relation, edges in self.edges.items():
            facts[f"edges {relation}"] = f"{edges.num_edges:,}"
        return facts

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self._advice, self._contents)


def _reopen(path: str, advice: Advice, contents: Mapping[str, Content]) -> TypedDataset:
    """How these datasets unpickle: as the same files, or not at all."""
    dataset = TypedDataset(path, advice=advice)
    found = dataset._contents  # noqa: SLF001
    if contents != found:
        wrong = [what for what in (*contents, *found) if contents.get(what) != found.get(what)]
        raise changed(
            dataset.path,
            f"is not the dataset that was sent here as this path ({wrong[0]} differs): it has been "
            "replaced; open it again, in all processes",
        )
    return dataset
