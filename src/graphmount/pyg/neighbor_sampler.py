"""graphmount's sampler as a PyG `BaseSampler`: for `NodeLoader`, `LinkLoader` and Lightning.

Sampling is that of `Graph.sample_neighbors`, in threads, from memory or disk. What PyG expects of
the result holds: seeds first as they came, edges in the order of hops, `edge` the ids of the edges.
A sampler is its graph's path and its options: it pickles as these, and copies are cheap.
"""

from __future__ import annotations

from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NodeSamplerInput,
    NumNeighbors,
    SamplerOutput,
)
from torch_geometric.sampler.base import SubgraphType
from torch_geometric.sampler.neighbor_sampler import edge_sample

from graphmount._mount.graph import Graph
from graphmount._mount.node_ids import require_marked
from graphmount._mount.node_reading import ADVICE, require_reading, to_internal
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.arguments import as_ids, require_choice
from graphmount._support.seeds import as_key
from graphmount.errors import MissingDataError
from graphmount.torch.tensor_views import tensor_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch_geometric.sampler import NegativeSampling

    from graphmount._dataset.dataset import Dataset
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import TemporalStrategy
    from graphmount._support.direction import Direction
    from graphmount.pyg.feature_store import FeatureStore
    from graphmount.pyg.graph_store import GraphStore

#: Attributes that are options of the rule, under the same names.
_OPTIONS = frozenset({"replace", "weighted", "disjoint", "temporal_strategy", "direction"})


class NeighborSampler(BaseSampler):
    """Samples neighbors of a mounted graph for PyG's loaders. It needs no pyg-lib.

    The options are attributes as well, and may be set. What is drawn follows `torch.manual_seed`,
    in workers as PyTorch's loaders seed them.

    Args:
        data: A `Dataset`, a `Graph`, or the stores of `Dataset.to_pyg`.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all.
        replace: Whether a neighbor may be drawn more than once for the same node.
        weighted: Whether neighbors are drawn in proportion to the weights of their edges. A
            neighbor of weight 0 is never drawn.
        disjoint: Whether each seed gets a tree of its own that shares no nodes with the trees of
            other seeds. Sampling is always disjoint if the loader has times for its seeds. The
            times of edges come from the graph, so no `time_attr` is needed.
        temporal_strategy: For sampling with times: "uniform" draws among all edges that are early
            enough, "last" takes the latest of them.
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
        data: Dataset | Graph | GraphStore | tuple[FeatureStore, GraphStore],
        num_neighbors: Sequence[int] | NumNeighbors,
        *,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType | str = "directional",
        direction: Direction = "in",
        ids: IdReading | None = None,
        source_rows: bool = False,
    ) -> None:
        self._graph = _graph_of(data)
        self._ids = _as_reading(ids, self._graph)
        self._rule = SamplingRule(
            fanouts=_as_fanouts(num_neighbors),
            replace=replace,
            weighted=weighted,
            disjoint=disjoint,
            temporal_strategy=temporal_strategy,
            subgraph_type=_as_text(subgraph_type),
            direction=direction,
        )
        self.source_rows = source_rows

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name in _OPTIONS:
            return getattr(self._rule, name)
        raise AttributeError(f"a NeighborSampler has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        # Options may be set at any time; one that is refused stays as it was.
        if name in _OPTIONS:
            name, value = "_rule", changed(self._rule, **{name: value})
        if name == "source_rows":
            require_choice(name, value, (False, True))
            if value:
                self._require_source_rows()
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<NeighborSampler of {self._graph!r}: num_neighbors={self.num_neighbors}>"

    @property
    def graph(self) -> Graph:
        """The mounted graph."""
        return self._graph

    @property
    def num_nodes(self) -> int:
        """Number of nodes of the graph."""
        return self._graph.num_nodes

    @property
    def num_neighbors(self) -> list[int]:
        """How many neighbors to draw in each hop."""
        return list(self._rule.fanouts)

    @num_neighbors.setter
    def num_neighbors(self, numbers: Sequence[int] | NumNeighbors) -> None:
        self._rule = changed(self._rule, fanouts=_as_fanouts(numbers))

    @property
    def subgraph_type(self) -> SubgraphType:
        """Which edges between sampled nodes to return."""
        return SubgraphType(self._rule.subgraph_type)

    @subgraph_type.setter
    def subgraph_type(self, value: SubgraphType | str) -> None:
        self._rule = changed(self._rule, subgraph_type=_as_text(value))

    @property
    def edge_permutation(self) -> torch.Tensor | None:
        """What PyG makes `e_id` of: None for ids of edges, or their rows in the source."""
        return self._require_source_rows() if self.source_rows else None

    def _require_source_rows(self) -> torch.Tensor:
        # By edge id, which is the place in the incoming lists.
        rows = self._graph._private_section("source rows", "in")  # noqa: SLF001  (a friend)
        if rows is None:
            raise MissingDataError(
                f"{self._graph.path} does not know the rows that edges had in its source; compile "
                "it with source_rows=True"
            )
        return tensor_over(rows, self._graph.path, stacklevel=3)

    def sample_from_nodes(self, index: NodeSamplerInput, **_: Any) -> SamplerOutput:  # noqa: ANN401
        """Samples from nodes, as `NodeLoader` asks for it.

        Args:
            index: The seeds, their places among the inputs of the loader, and their times if there
                are any.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The graph lacks weights, timestamps or the direction.
            ValueError: The seeds have a type, or options contradict each other.

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
        _refuse_types(inputs.input_type)
        out = self._sample(self._internal(inputs.node, "input_nodes"), inputs.time)
        out.metadata = (inputs.input_id, inputs.time)
        return out

    def sample_from_edges(
        self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None
    ) -> SamplerOutput:
        """Samples from both ends of edges, as `LinkLoader` asks for it, with PyG's negatives.

        Args:
            index: The edges, their places among the inputs of the loader, and their labels and
                times if there are any.
            neg_sampling: Which negatives to add; none if None.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The graph lacks weights, timestamps or the direction.
            ValueError: The edges have a type, or options contradict each other.

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
        _refuse_types(inputs.input_type)
        sample = self._sample
        if _has_weights(neg_sampling):  # which come in the order of the ids that inputs have
            sample = self._sample_by_input
        else:
            inputs = changed(
                inputs,
                row=self._internal(inputs.row, "edge_label_index[0]"),
                col=self._internal(inputs.col, "edge_label_index[1]"),
            )
        is_disjoint = self.disjoint or inputs.time is not None
        out: SamplerOutput = edge_sample(
            inputs, sample, self.num_nodes, is_disjoint, None, neg_sampling
        )
        return out

    def _sample_by_input(
        self, seed: torch.Tensor, seed_time: torch.Tensor | None = None
    ) -> SamplerOutput:
        return self._sample(self._internal(seed, "edge_label_index and negatives"), seed_time)

    def _internal(self, nodes: torch.Tensor, name: str) -> torch.Tensor:
        """Inputs of a loader as nodes of the dataset."""
        if self._ids != "external":
            return nodes
        return torch.from_numpy(to_internal(nodes.numpy(), name, self._graph, self._ids))

    def _sample(self, seed: torch.Tensor, seed_time: torch.Tensor | None = None) -> SamplerOutput:
        if seed_time is None:
            rule = changed(self._rule, temporal_strategy="uniform")
            times = np.empty(0, np.int64)
        else:
            rule = changed(self._rule, temporal=True)
            times = as_ids(seed_time.numpy(), "time")
        graph = self._graph._open()  # noqa: SLF001
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


def _has_weights(negatives: NegativeSampling | None) -> bool:
    return negatives is not None and not (
        negatives.src_weight is None and negatives.dst_weight is None
    )


def _as_reading(ids: Any, graph: Graph) -> IdReading:  # noqa: ANN401
    """How to read inputs, which come without a mark: PyG's loaders cut them out of what they got.

    Raises:
        IdError: It is not said, and the ids of the graph and of its source differ.
    """
    require_reading(ids)
    if ids is None and graph._own_order != 0:  # noqa: SLF001
        require_marked([0], "the inputs of a loader", graph.order, advice=ADVICE)
    return ids or "internal"


def _as_fanouts(numbers: Any) -> Any:  # noqa: ANN401
    """What PyG has for `num_neighbors`, as our own calls take it."""
    values = numbers.values if isinstance(numbers, NumNeighbors) else numbers
    if isinstance(values, dict):
        raise TypeError(
            f"num_neighbors={values!r} is by types of edges, and a graph has one type; give a "
            "list with one number for each hop"
        )
    return values


def _as_text(kind: Any) -> Any:  # noqa: ANN401
    """What PyG has an enum for, as text."""
    return getattr(kind, "value", kind)


def _graph_of(data: Any) -> Graph:  # noqa: ANN401
    """The graph in whatever has one."""
    if isinstance(data, tuple | list) and len(data) == 2:
        data = data[1]
    graph = data if isinstance(data, Graph) else getattr(data, "graph", None)
    if not isinstance(graph, Graph):
        raise TypeError(
            "data must be a Dataset, a Graph, or the stores of Dataset.to_pyg(), not "
            f"{type(data).__name__}: other data is sampled by PyG's own NeighborSampler"
        )
    return graph


def _refuse_types(input_type: object) -> None:
    if input_type is not None:
        raise ValueError(
            f"the inputs are of type {input_type!r}, and a graph has one type of nodes and edges; "
            "give the loader a tensor of nodes, or (None, edge_label_index)"
        )
