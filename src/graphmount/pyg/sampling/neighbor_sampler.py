"""graphmount's sampler as a PyG `BaseSampler`: for `NodeLoader`, `LinkLoader` and Lightning.

Sampling is that of `Graph.sample_neighbors`, or, for many kinds of nodes, that of
`TypedDataset.sample_neighbors` (`typed_sampling.py`): in threads, from memory or disk. What PyG
expects of the result holds: seeds first as they came, edges in the order of hops, `edge` the ids of
the edges. A sampler is the path of its data and its options: it pickles as these, and copies are
cheap.
"""

from __future__ import annotations

from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    HeteroSamplerOutput,
    NodeSamplerInput,
    NumNeighbors,
    SamplerOutput,
)
from torch_geometric.sampler.base import SubgraphType
from torch_geometric.sampler.neighbor_sampler import edge_sample

from graphmount._mount.graph import Graph
from graphmount._mount.node_reading import to_internal
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.arguments import as_ids, require_choice
from graphmount._support.seeds import as_key
from graphmount.pyg.sampling.sampled_data import (
    as_reading,
    as_text,
    data_of,
    first_of,
    has_weights,
    refuse_types,
    source_rows_of,
)
from graphmount.pyg.sampling.typed_sampling import (
    fanouts_by_relation,
    negative_times,
    sample_relations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch_geometric.sampler import NegativeSampling

    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import TemporalStrategy, TimeOf
    from graphmount._support.direction import Direction
    from graphmount.pyg.stores.feature_store import FeatureStore
    from graphmount.pyg.stores.graph_store import GraphStore

#: Attributes that are options of the rule, under the same names.
_OPTIONS = frozenset({"replace", "weighted", "disjoint", "temporal_strategy", "direction"})


class NeighborSampler(BaseSampler):
    """Samples neighbors of a mounted graph, or of many kinds, for PyG's loaders, without pyg-lib.

    The options are attributes as well, and may be set. What is drawn follows `torch.manual_seed`,
    in workers as PyTorch's loaders seed them.

    Args:
        data: A `Dataset` of one node type or of many, a `Graph`, or the stores of `to_pyg`.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. For many
            node types also a dict of such lists by relation, or PyG's `NumNeighbors`.
        replace: Whether a neighbor may be drawn more than once for the same node.
        weighted: Whether neighbors are drawn in proportion to the weights of their edges. A
            neighbor of weight 0 is never drawn.
        disjoint: Whether each seed gets a tree of its own that shares no nodes with the trees of
            other seeds. Sampling is always disjoint if the loader has times for its seeds. The
            times of edges come from the graph, so no `time_attr` is needed.
        temporal_strategy: For sampling with times: "uniform" draws among all edges that are early
            enough, "last" takes the latest of them.
        time_of: For many node types: whose times count, those of "edges" or of "nodes". By default
            those that exist.
        subgraph_type: Which edges a sample has. "directional": the edges that were drawn.
            "bidirectional": those and their reverse, each once. "induced": all edges that the graph
            has between the sampled nodes.
        direction: "in" draws the sources of incoming edges, "out" the targets of outgoing edges.
        ids: Which ids the inputs of the loaders are that use this sampler: "external" for ids of
            the source, such as `train_mask` of the data that was compiled; "internal" for ids of
            the dataset. You must say so if the two differ. `n_id` is internal either way.
        source_rows: Whether `e_id` holds the rows that edges had in the source of the graph,
            instead of edge ids. A `Data` object with edge features needs this if the graph was
            compiled from its `edge_index` with `source_rows=True`.

    Examples:
        >>> import torch
        >>> from torch_geometric.loader import NodeLoader
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_dataset(
        ...     "four", edges=([3, 3, 3, 1], [0, 1, 2, 2]),
        ...     features={"x": [[0.0], [1.0], [2.0], [3.0]]}, order="given",
        ... )
        >>> ds = gm.Dataset("four")
        >>> sampler = gm.pyg.NeighborSampler(ds, [2, 2])
        >>> loader = NodeLoader(ds.to_pyg(), sampler, torch.tensor([2]))
        >>> batch = next(iter(loader))
        >>> batch.n_id.sort().values, batch.x.shape, batch.num_sampled_edges
        (tensor([1, 2, 3]), torch.Size([3, 1]), [2, 1])
    """

    replace: bool
    weighted: bool
    disjoint: bool
    temporal_strategy: TemporalStrategy
    direction: Direction

    def __init__(
        self,
        data: Dataset | TypedDataset | Graph | GraphStore | tuple[FeatureStore, GraphStore],
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]] | NumNeighbors,
        *,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        temporal_strategy: TemporalStrategy = "uniform",
        time_of: TimeOf | None = None,
        subgraph_type: SubgraphType | str = "directional",
        direction: Direction = "in",
        ids: IdReading | None = None,
        source_rows: bool = False,
    ) -> None:
        self._data = data_of(data)
        self._ids = as_reading(ids, self._data)
        self._fanouts = self._as_fanouts(num_neighbors)
        self.time_of = time_of
        self._rule = SamplingRule(
            fanouts=first_of(self._fanouts),
            replace=replace,
            weighted=weighted,
            disjoint=disjoint,
            temporal_strategy=temporal_strategy,
            subgraph_type=as_text(subgraph_type),
            direction=direction,
        )
        self.source_rows = source_rows

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name in _OPTIONS:
            return getattr(self._rule, name)
        if name == "graph":  # of many kinds: the property has refused
            raise AttributeError("a sampler of many node types has a graph for each relation")
        raise AttributeError(f"a NeighborSampler has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        # Options may be set at any time; one that is refused stays as it was.
        if name in _OPTIONS:
            name, value = "_rule", changed(self._rule, **{name: value})
        if name == "source_rows":
            require_choice(name, value, (False, True))
            if value:
                self._require_source_rows()
        if name == "time_of":
            require_choice(name, value, (None, "edges", "nodes"))
            if value is not None and isinstance(self._data, Graph):
                raise ValueError("time_of= is for many node types; a graph has times of edges")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<NeighborSampler of {self._data!r}: num_neighbors={self.num_neighbors}>"

    @property
    def graph(self) -> Graph:
        """The mounted graph, of a sampler for one node type."""
        if isinstance(self._data, Graph):
            return self._data
        raise AttributeError(name="graph")  # and `__getattr__` says why

    @property
    def num_nodes(self) -> int | dict[str, int]:
        """Number of nodes of the graph; for many node types a dict."""
        if isinstance(self._data, Graph):
            return self._data.num_nodes
        return {name: nodes.num_nodes for name, nodes in self._data.nodes.items()}

    @property
    def num_neighbors(self) -> list[int] | dict[EdgeType, list[int]]:
        """How many neighbors to draw in each hop; for many node types a dict by relation."""
        if isinstance(self._fanouts, dict):
            return {relation: list(own) for relation, own in self._fanouts.items()}
        return list(self._rule.fanouts)

    @num_neighbors.setter
    def num_neighbors(
        self, numbers: Sequence[int] | Mapping[EdgeType, Sequence[int]] | NumNeighbors
    ) -> None:
        fanouts = self._as_fanouts(numbers)
        self._rule = changed(self._rule, fanouts=first_of(fanouts))
        self._fanouts = fanouts

    def _as_fanouts(self, numbers: Any) -> Any:  # noqa: ANN401
        """What PyG has for `num_neighbors`, as our own calls take it."""
        if not isinstance(self._data, Graph):
            return fanouts_by_relation(self._data, numbers)
        values = numbers.values if isinstance(numbers, NumNeighbors) else numbers
        if isinstance(values, dict):
            raise TypeError(
                f"num_neighbors={values!r} is by types of edges, and a graph has one type; give a "
                "list with one number for each hop"
            )
        return values

    @property
    def subgraph_type(self) -> SubgraphType:
        """Which edges between sampled nodes to return."""
        return SubgraphType(self._rule.subgraph_type)

    @subgraph_type.setter
    def subgraph_type(self, value: SubgraphType | str) -> None:
        self._rule = changed(self._rule, subgraph_type=as_text(value))

    @property
    def edge_permutation(self) -> Any:  # noqa: ANN401  (as in PyG)
        """What PyG makes `e_id` of: None for ids of edges, or their rows in the source."""
        return self._require_source_rows() if self.source_rows else None

    def _require_source_rows(self) -> Any:  # noqa: ANN401
        if isinstance(self._data, Graph):
            return source_rows_of(self._data)
        return {name: source_rows_of(edges.graph) for name, edges in self._data.edges.items()}

    def sample_from_nodes(
        self,
        index: NodeSamplerInput,
        **_: Any,  # noqa: ANN401
    ) -> SamplerOutput | HeteroSamplerOutput:
        """Samples from nodes, as `NodeLoader` asks for it.

        Args:
            index: The seeds, their places among the inputs of the loader, and their times if there
                are any.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The graph lacks weights, timestamps or the direction.
            ValueError: The seeds have a type that does not exist, or options contradict each other.

        Examples:
            >>> import torch
            >>> from torch_geometric.sampler import NodeSamplerInput
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> sampler = gm.pyg.NeighborSampler(gm.Graph("g.gl"), [-1])
            >>> out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0])))
            >>> out.node, out.row, out.col, out.edge
            (tensor([0, 1, 2]), tensor([1, 2]), tensor([0, 0]), tensor([0, 1]))
        """
        inputs = NodeSamplerInput.cast(index)
        name = self._require_type(inputs.input_type, str)
        nodes, times = self._internal(inputs.node, "input_nodes", name), inputs.time
        out = (
            self._sample(nodes, times)
            if name is None
            else self._sample({name: nodes}, None if times is None else {name: times})
        )
        out.metadata = (inputs.input_id, times)
        return out

    def sample_from_edges(
        self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None
    ) -> SamplerOutput | HeteroSamplerOutput:
        """Samples from both ends of edges, as `LinkLoader` asks for it, with PyG's negatives.

        Args:
            index: The edges, their places among the inputs of the loader, and their labels and
                times if there are any.
            neg_sampling: Which negatives to add; none if None.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The graph lacks weights, timestamps or the direction.
            ValueError: The edges have a type that does not exist, or options contradict each other.

        Examples:
            >>> import torch
            >>> from torch_geometric.sampler import EdgeSamplerInput
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> sampler = gm.pyg.NeighborSampler(gm.Graph("g.gl"), [-1])
            >>> edges = EdgeSamplerInput(None, torch.tensor([2]), torch.tensor([0]))
            >>> sampler.sample_from_edges(edges).node
            tensor([0, 2, 1])
        """
        inputs = EdgeSamplerInput.cast(index)
        relation = self._require_type(inputs.input_type, tuple)
        source, destination = (None, None) if relation is None else (relation[0], relation[2])
        sample = self._sample
        if has_weights(neg_sampling):  # which come in the order of the ids that inputs have
            sample = self._sample_by_input
        else:
            inputs = changed(
                inputs,
                row=self._internal(inputs.row, "edge_label_index[0]", source),
                col=self._internal(inputs.col, "edge_label_index[1]", destination),
            )
        is_disjoint = self.disjoint or inputs.time is not None
        times = None
        if relation is not None and inputs.time is not None and neg_sampling is not None:
            times = negative_times(self._data, relation, self.time_of)
        return edge_sample(inputs, sample, self.num_nodes, is_disjoint, times, neg_sampling)

    def _sample_by_input(self, seed: Any, seed_time: Any = None) -> Any:  # noqa: ANN401
        what = "edge_label_index and negatives"
        if isinstance(seed, dict):
            seed = {name: self._internal(nodes, what, name) for name, nodes in seed.items()}
        else:
            seed = self._internal(seed, what, None)
        return self._sample(seed, seed_time)

    def _require_type(self, given: Any, kind: type) -> Any:  # noqa: ANN401
        """The type of the inputs, which a graph does not have, and many kinds must have."""
        if isinstance(self._data, Graph):
            refuse_types(given)
            return None
        known = self._data.node_types if kind is str else self._data.edge_types
        if given not in known:
            what = "a node type" if kind is str else "a relation"
            raise ValueError(
                f"the inputs are of type {given!r}; give the loader {what} with them, one of "
                f"{list(known)}"
            )
        return given

    def _internal(self, nodes: torch.Tensor, name: str, node_type: str | None) -> torch.Tensor:
        """Inputs of a loader as nodes of the dataset."""
        if self._ids != "external":
            return nodes
        space: Any = self._data if node_type is None else self._data.nodes[node_type]  # type: ignore[union-attr]
        return torch.from_numpy(to_internal(nodes.numpy(), name, space, self._ids))

    def _sample(self, seed: Any, seed_time: Any = None) -> Any:  # noqa: ANN401
        if not isinstance(self._data, Graph):
            return sample_relations(
                self._data,
                seed,
                seed_time,
                fanouts=self._fanouts,
                rule=self._rule,
                time_of=self.time_of,
            )
        if seed_time is None:
            rule = changed(self._rule, temporal_strategy="uniform")
            times = np.empty(0, np.int64)
        else:
            rule = changed(self._rule, temporal=True)
            times = as_ids(seed_time.numpy(), "time")
        graph = self._data._open()  # noqa: SLF001
        sample = rule.sample(graph, as_ids(seed.numpy(), "seeds"), times, as_key(None))
        by_hop = sample.num_sampled_edges is not None
        return SamplerOutput(
            node=torch.from_numpy(sample.nodes),
            row=torch.from_numpy(sample.row),
            col=torch.from_numpy(sample.col),
            edge=torch.from_numpy(sample.edge_ids),
            batch=None if sample.batch is None else torch.from_numpy(sample.batch),
            # Both or none: PyG trims layers by the two together.
            num_sampled_nodes=list(sample.num_sampled_nodes) if by_hop else None,
            num_sampled_edges=list(sample.num_sampled_edges or ()) if by_hop else None,
        )
