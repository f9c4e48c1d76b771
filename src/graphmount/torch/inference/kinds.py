"""What inference goes over: types of nodes, relations between them, and blocks of their nodes.

A graph of one kind is one type and one relation, both without a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from graphmount._mount.mapped_reads import ListOffsets, has_list_section, read_list_section
from graphmount.errors import FileChangedError
from graphmount.torch.batches.tensor_batch import marked_tensor
from graphmount.torch.inference.blocks import LayerBlock, TypedLayerBlock
from graphmount.torch.inference.node_blocks import NeighborLists, node_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._support.direction import Direction

ONE_TYPE = ""
_ONE_RELATION = ("", "", "")

#: Three blocks are alive at once, and the layer's own results take about as much as one or two.
_BLOCKS_IN_MEMORY = 6
#: Of a block, for a node or an edge: its number, both ends, its id, and what sampling needs.
_ENTRY_BYTES = 64


@dataclass(frozen=True)
class LayerRows:
    """The rows of a type, as the next layer gets them.

    Attributes:
        shape: That of one row.
        dtype: What they are converted to.
        store: Where they are; None if no layer needs any of them.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    store: FeatureStore | None

    @property
    def row_bytes(self) -> int:
        """What a row takes in a block."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def gather(self, nodes: NDArray[np.int64]) -> torch.Tensor:
        """The rows of some nodes."""
        from graphmount.torch import gather

        if self.store is None or not len(nodes):
            return torch.empty((0, *self.shape), dtype=self.dtype)
        return gather(self.store, nodes, dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Nodes of a block and all edges of those to compute, by type and by relation."""

    nodes: Mapping[str, NDArray[np.int64]]
    edge_index: Mapping[EdgeType, NDArray[np.int64]]
    edge_ids: Mapping[EdgeType, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """Types and relations.

    Attributes:
        path: What messages call all of it.
        num_nodes: How many nodes each type has.
        orders: The fingerprint of the order of each.
        graphs: The edges of each relation.
        direction: Which neighbors nodes have.
        weights: Whether blocks have weights.
        draw: Gives some nodes of a type with all their neighbors.
    """

    path: str
    num_nodes: Mapping[str, int]
    orders: Mapping[str, int]
    graphs: Mapping[EdgeType, Graph]
    direction: Direction
    weights: bool
    draw: Callable[[str, range], Drawn]

    def _own(self, relation: EdgeType) -> str:
        """The type whose nodes have neighbors in a relation."""
        return relation[2] if self.direction == "in" else relation[0]

    def _other(self, relation: EdgeType) -> str:
        """The type that these neighbors are of."""
        return relation[0] if self.direction == "in" else relation[2]

    def needed(self, types: Iterable[str], num_layers: int) -> list[set[str]]:
        """For each layer, the types that it must compute for those that are wanted in the end."""
        needed = [set(types)]
        for _ in range(num_layers - 1):
            last = needed[0]
            sources = {self._other(each) for each in self.graphs if self._own(each) in last}
            needed.insert(0, last | sources)
        return needed

    def blocks(
        self, name: str, rows: Mapping[str, LayerRows], memory: int
    ) -> Iterator[TypedLayerBlock]:
        """All nodes of a type in order, in blocks with all their neighbors; one block at least.

        Args:
            name: The type.
            rows: The rows of the types that have some.
            memory: Of which a block takes a part.

        Raises:
            BudgetError: One node has more neighbors than fit.
        """
        if not self.num_nodes[name]:
            yield self.empty_block(name, rows)

        def entry_bytes(type_name: str) -> int:
            return _ENTRY_BYTES + (rows[type_name].row_bytes if type_name in rows else 0)

        lists = [
            NeighborLists(ListOffsets(graph, self.direction), entry_bytes(self._other(relation)))
            for relation, graph in self.graphs.items()
            if self._own(relation) == name
        ]
        for nodes in node_blocks(
            self.num_nodes[name],
            lists,
            node_bytes=entry_bytes(name),
            block_bytes=memory // _BLOCKS_IN_MEMORY,
            memory=memory,
            of=f" of type {name!r}" if name else "",
        ):
            yield self._block(name, nodes, self.draw(name, nodes), rows)

    def empty_block(self, name: str, rows: Mapping[str, LayerRows]) -> TypedLayerBlock:
        """A block of a type with no nodes in it."""
        nothing = np.empty(0, np.int64)
        drawn = Drawn(
            dict.fromkeys(self.num_nodes, nothing),
            {relation: np.empty((2, 0), np.int64) for relation in self.graphs},
            dict.fromkeys(self.graphs, nothing),
        )
        return self._block(name, range(0), drawn, rows)

    def _block(
        self, name: str, nodes: range, drawn: Drawn, rows: Mapping[str, LayerRows]
    ) -> TypedLayerBlock:
        weights = {}
        for relation, graph in self.graphs.items() if self.weights else ():
            if has_list_section(graph, "weights", self.direction):
                is_own = self._own(relation) == name and len(nodes) > 0
                weights[relation] = torch.from_numpy(
                    self._weights(graph, nodes, len(drawn.edge_ids[relation]))
                    if is_own
                    else np.empty(0, np.float32)
                )
        return TypedLayerBlock(
            target_type=name,
            num_targets=len(nodes),
            x={each: own.gather(drawn.nodes[each]) for each, own in rows.items()},
            edge_index={each: torch.from_numpy(ends) for each, ends in drawn.edge_index.items()},
            nodes={each: marked_tensor(ids) for each, ids in drawn.nodes.items()},
            edge_ids={each: torch.from_numpy(ids) for each, ids in drawn.edge_ids.items()},
            edge_weight=weights if self.weights else None,
        )

    def _weights(self, graph: Graph, nodes: range, num_edges: int) -> NDArray[np.float32]:
        """The weights of all edges of some nodes, whose lists lie together."""
        offsets = read_list_section(graph, "indptr", self.direction, nodes.start, len(nodes) + 1)
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        if count != num_edges:
            raise FileChangedError(
                f"{graph.path}: the lists of nodes {nodes.start} to {nodes.stop - 1} changed "
                "while they were read; do not write to mounted files"
            )
        return read_list_section(graph, "weights", self.direction, first, count)


def precision_of(dtype: torch.dtype) -> torch.dtype:
    """What layers compute in: float64 if the rows have it, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def kinds_of_graph(graph: Graph, *, direction: Direction, weights: bool) -> Kinds:
    """A graph of one kind."""

    def draw(_name: str, nodes: range) -> Drawn:
        ids = graph._mark(np.arange(nodes.start, nodes.stop))  # noqa: SLF001  (a friend)
        # All neighbors: nothing is drawn, and the seed spares the user's generator.
        sample = graph.sample_neighbors(ids, [-1], direction=direction, seed=0)
        return Drawn(
            {ONE_TYPE: sample.nodes},
            {_ONE_RELATION: sample.edge_index},
            {_ONE_RELATION: sample.edge_ids},
        )

    return Kinds(
        path=graph.path,
        num_nodes={ONE_TYPE: graph.num_nodes},
        orders={ONE_TYPE: graph.order},
        graphs={_ONE_RELATION: graph},
        direction=direction,
        weights=weights,
        draw=draw,
    )


def kinds_of_dataset(
    dataset: TypedDataset, relations: Iterable[EdgeType], *, direction: Direction, weights: bool
) -> Kinds:
    """The types of a dataset, and some relations of it."""
    chosen = {relation: dataset.edges[relation].graph for relation in relations}
    fanouts = {relation: [-1 if relation in chosen else 0] for relation in dataset.edge_types}

    def draw(name: str, nodes: range) -> Drawn:
        ids = dataset.nodes[name].as_internal(np.arange(nodes.start, nodes.stop))
        sample = dataset.sample_neighbors(
            (name, ids), fanouts, ids="internal", direction=direction, seed=0
        )
        edge_ids = {relation: sample.edge_ids[relation] for relation in chosen}
        return Drawn(
            sample.nodes,
            {relation: sample.edge_index[relation] for relation in chosen},
            {relation: ids for relation, ids in edge_ids.items() if ids is not None},
        )

    return Kinds(
        path=dataset.path,
        num_nodes={name: nodes.num_nodes for name, nodes in dataset.nodes.items()},
        orders={name: nodes.order for name, nodes in dataset.nodes.items()},
        graphs=chosen,
        direction=direction,
        weights=weights,
        draw=draw,
    )


def as_block_of_one(block: TypedLayerBlock) -> LayerBlock:
    """A block of one kind, as its layers get it."""
    weights = block.edge_weight
    return LayerBlock(
        x=block.x[ONE_TYPE],
        edge_index=block.edge_index[_ONE_RELATION],
        nodes=block.nodes[ONE_TYPE],
        num_targets=block.num_targets,
        edge_ids=block.edge_ids[_ONE_RELATION],
        edge_weight=None if not weights else weights[_ONE_RELATION],
    )
