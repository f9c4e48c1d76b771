"""A compiled folder with nodes and edges of many types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as changed_to
from typing import TYPE_CHECKING, Any

from graphmount._dataset.node_type import NodeType, Relation
from graphmount._dataset.opening import require_contents
from graphmount._dataset.typed.sampling import TypedSampling
from graphmount._dataset.typed_description import relation_of
from graphmount._dataset.typed_negatives import TypedNegatives
from graphmount._dataset.typed_opening import open_typed_files
from graphmount._mount.node_ids import mark_ids
from graphmount._mount.node_reading import require_reading, to_internal
from graphmount._support.display import Displayed, NamedParts, one_line
from graphmount._support.foreign_words import OPENING_WORDS, TYPED_SAMPLING_WORDS
from graphmount._support.keywords import advises
from graphmount._support.shown import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    import numpy as np
    import torch
    from numpy.typing import ArrayLike, NDArray

    from graphmount import pyg
    from graphmount._dataset.typed.results import EdgeType, Fanouts, TypedNeighborSample
    from graphmount._mount.handle import Advice, Content
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy, TimeOf
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


class TypedDataset(Displayed, TypedNegatives):
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
                name: NodeType(name, entry, files)
                for name, entry in files.description["node_types"].items()
            },
        )
        self.edges: Mapping[EdgeType, Relation] = NamedParts(  # type: ignore[assignment]
            "relation",
            {
                relation_of(entry): Relation(relation_of(entry), entry, files)  # type: ignore[misc]
                for entry in files.description["edge_types"]
            },
        )
        self._sampling = TypedSampling(
            {name: nodes.num_nodes for name, nodes in self.nodes.items()},
            {relation: edges.graph for relation, edges in self.edges.items()},
            {
                name: times
                for name, nodes in self.nodes.items()
                if (times := nodes._times) is not None  # noqa: SLF001
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

    @advises(TYPED_SAMPLING_WORDS)
    def sample_neighbors(
        self,
        seeds: Mapping[str, ArrayLike | str] | tuple[str, ArrayLike | str],
        fanouts: Fanouts,
        *,
        ids: IdReading | None = None,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        time: ArrayLike | Mapping[str, ArrayLike] | None = None,
        time_of: TimeOf | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        seed: Seed = None,
    ) -> TypedNeighborSample:
        """Draws a sample of several hops through all relations.

        Each seed draws neighbors in every relation that leads to its type; in the next hop, the
        nodes that are new draw theirs, and so on. Relations are followed in their order, as in PyG.
        Options mean what they mean for `Graph.sample_neighbors`.

        Args:
            seeds: A node type and its nodes, such as ("paper", [0, 1]), or a dict of several. Nodes
                are ids, a mask, or the name of a split.
            fanouts: For each hop, how many neighbors each node draws in every relation; -1 for all.
                Or a dict with such a list for each relation, all of the same length; the key
                "default" is for those that are not named.
            ids: Whether seeds are "internal" ids or "external" ones, those of the source. Needed
                for integers and masks where the two differ.
            replace: Whether a neighbor may be drawn more than once for the same node.
            weighted: Whether to draw in proportion to the weights of edges.
            disjoint: Whether each seed gets a tree of its own.
            time: For each seed, a time: only what is of that time or before is drawn in its tree.
                For seeds of several types, a dict. Sampling is then disjoint.
            time_of: Whose times `time` is compared with. "edges": edges are drawn by their own
                times, and relations without times are there at any time. "nodes": edges are drawn
                by the times of the nodes that they lead to, and nodes of types without times are
                there at any time; if `time` is not given, it is the own time of each seed. By
                default those that exist. If both do, they must be chosen.
            temporal_strategy: "uniform" draws among all edges that are early enough, "last" takes
                the latest of them.
            subgraph_type: "directional": the edges that were drawn. "induced": all edges between
                the sampled nodes that are early enough. "bidirectional": the edges that were drawn,
                and those of the reverse relation with them.
            direction: "in" goes from destinations to sources, "out" the other way.
            seed: An integer, or several. The same seed gives the same sample, for any number of
                threads.

        Raises:
            IdError: A node does not exist, or seeds are ids of another type.
            MissingDataError: A relation lacks this direction or weights, or there are no times.
            ValueError: There is no such type or relation, or options contradict each other.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "books", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes(num_nodes=2)},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
            ... )
            >>> sample = gm.Dataset("books").sample_neighbors(("book", [2]), [-1])
            >>> sample.nodes["reader"], sample.edge_index["reader", "lends", "book"]
            (NodeIds([0, 1]), array([[0, 1],
                   [0, 0]]))
        """
        sample = self._sampling.sample_neighbors(
            self._seeds(seeds, ids),
            fanouts,
            replace=replace,
            weighted=weighted,
            disjoint=disjoint,
            time=time,
            time_of=time_of,
            temporal_strategy=temporal_strategy,
            subgraph_type=subgraph_type,
            direction=direction,
            seed=seed,
        )
        nodes = {name: mark_ids(own, self.nodes[name].order) for name, own in sample.nodes.items()}
        return changed_to(sample, nodes=nodes)

    def random_walk(
        self,
        starts: ArrayLike | str,
        relations: Sequence[EdgeType],
        *,
        ids: IdReading | None = None,
        weighted: bool = False,
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """Walks from each start through these relations, from sources to destinations.

        A relation is followed along its own outgoing edges, or, where it has none, the incoming
        edges of its reverse.

        Args:
            starts: Nodes of the type that the first relation begins at: ids, a mask, or a split.
            relations: The relation of each step.
            ids: Whether starts are "internal" or "external" ids.
            weighted: Whether steps are drawn in proportion to the weights of edges.
            seed: An integer, or several. The same seed gives the same walks.

        Returns:
            A row for each start and a column for each node of its walk, as **internal** ids of the
            type that the walk has reached; -1 behind a node that has no such edge.

        Raises:
            ValueError: There is no such relation, or one does not begin where the last one ends.
            MissingDataError: A relation has no outgoing edges, and no reverse.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "loans", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes(num_nodes=2)},
            ...     edges={("reader", "lends", "book"): ([0, 1], [2, 0])},
            ...     reverse=True, order="given",
            ... )
            >>> path = [("reader", "lends", "book"), ("book", "rev_lends", "reader")]
            >>> gm.Dataset("loans").random_walk([0, 1], path)
            array([[0, 2, 0],
                   [1, 0, 1]])
        """
        if not isinstance(relations, list | tuple) or not relations:
            known = ", ".join(map(str, self.edge_types))
            raise ValueError(
                f"relations must be a list of relations, not {shown(relations)}; there are {known}"
            )
        first = self._sampling.relation(relations[0], "relations")
        nodes = self._seeds({first[0]: starts}, ids, "starts")[first[0]]
        return self._sampling.random_walk(nodes, relations, weighted=weighted, seed=seed)

    def to_pyg(
        self, *, attributes: Iterable[str] | None = None, dtype: torch.dtype | None = None
    ) -> tuple[pyg.FeatureStore, pyg.GraphStore]:
        """The dataset in the form that PyG's loaders take: a feature store and a graph store.

        Args:
            attributes: What batches have: the names of tables, `y` for the labels, `time` for the
                times, `train_mask` for the split `train`; each of the types that have it. All
                tables, labels and times if None.
            dtype: What float tables and quantized tables are converted to. If None, float tables
                stay as they are and quantized ones become float32.

        Returns:
            `graphmount.pyg.FeatureStore` and `graphmount.pyg.GraphStore`, which pickle by path.

        Raises:
            ImportError: PyG is not installed.
            KeyError: No type has such an attribute.

        Examples:
            >>> import torch
            >>> from torch_geometric.loader import NodeLoader
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset(
            ...     "shelf", nodes={"book": gm.Nodes(features={"x": [[0.0], [1.0], [2.0]]}),
            ...     "reader": gm.Nodes()}, edges={("reader", "lends", "book"): ([0, 1], [2, 0])},
            ... )
            >>> ds = gm.Dataset("shelf")
            >>> sampler = gm.pyg.NeighborSampler(ds, [2], ids="external")
            >>> loader = NodeLoader(ds.to_pyg(), sampler, ("book", torch.arange(3)), batch_size=3)
            >>> batch = next(iter(loader))
            >>> batch["book"].x.tolist(), batch["reader"].n_id.shape
            ([[0.0], [1.0], [2.0]], torch.Size([2]))
        """
        from graphmount import pyg  # the base package needs no torch

        return pyg.FeatureStore(self, attributes=attributes, dtype=dtype), pyg.GraphStore(self)

    def _seeds(
        self,
        seeds: Any,  # noqa: ANN401
        ids: IdReading | None,
        argument: str = "seeds",
    ) -> Any:  # noqa: ANN401
        """Seeds by type, as internal ids. What is not understood goes on, and is refused there."""
        if isinstance(seeds, tuple) and len(seeds) == 2 and isinstance(seeds[0], str):
            seeds = {seeds[0]: seeds[1]}
        if not isinstance(seeds, Mapping):
            return seeds
        require_reading(ids)
        return {name: self._nodes_of(name, given, ids, argument) for name, given in seeds.items()}

    def _nodes_of(
        self,
        name: str,
        given: Any,  # noqa: ANN401
        ids: IdReading | None,
        argument: str,
    ) -> Any:  # noqa: ANN401
        if name not in self.node_types:
            return given
        nodes = self.nodes[name]
        if isinstance(given, str):
            return nodes._read_split(given)  # noqa: SLF001
        return to_internal(given, argument, nodes, ids)

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
    require_contents(dataset.path, contents, dataset._contents)  # noqa: SLF001
    return dataset
