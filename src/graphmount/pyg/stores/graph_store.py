"""The neighbor lists of graphs as a PyG `GraphStore`: read-only, in CSC, which is how they lie.

An edge's id is its place in these lists, so PyG needs no permutation, and nothing is sorted. The
tensors are the mounted file where it has int64, which is what PyG's own sampler asks for; what is
written to them stays in this process. The store pickles as the paths of its graphs.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch_geometric.data
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._mount.graph import Graph
from graphmount._support.arguments import require_type
from graphmount.torch.tensor_views import tensor_over

if TYPE_CHECKING:
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._support.direction import Direction


class GraphStore(torch_geometric.data.GraphStore):
    """The edges of a graph, as PyG asks for them; made by `Dataset.to_pyg`.

    Of a graph there is one type of edges, `None`; of a dataset of many node types, one for each
    relation. They are listed in CSC: `row` are sources, `colptr` says where the list of each
    destination begins. CSR is served from the lists of outgoing edges, where the file
    has them, and COO is written out in memory.

    Neighbors are int32 in files of fewer than 2^31 nodes, and PyG's own sampler wants int64. So
    they are converted, once, which takes 8 bytes an edge of memory; a warning says how much. A
    graph compiled with `index_dtype="int64"` needs no copy, and `graphmount.pyg.NeighborSampler`
    needs neither. Writing to the tensors is safe and private: the file never changes, nor what
    graphmount samples.

    Args:
        graph: The graph, or the dataset that it is in; or a dataset of many node types.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl", index_dtype="int64")
        >>> row, colptr, perm = gm.pyg.GraphStore(gm.Graph("g.gl")).csc()
        >>> row, colptr, perm
        (tensor([1, 2, 0]), tensor([0, 2, 3, 3]), None)
    """

    def __init__(self, graph: Graph | Dataset | TypedDataset) -> None:
        super().__init__()
        if not isinstance(graph, Graph | TypedDataset):
            require_type("graph", graph, Dataset, "a mounted Graph or a Dataset")
            graph = graph.graph
        self._data = graph
        self._graphs: dict[EdgeType | None, Graph] = (
            {relation: edges.graph for relation, edges in graph.edges.items()}
            if isinstance(graph, TypedDataset)
            else {None: graph}
        )
        self._converted: dict[tuple[EdgeType | None, Direction], torch.Tensor] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore, (self._data,)

    def __repr__(self) -> str:
        return f"<GraphStore over {self._data!r}>"

    @property
    def graph(self) -> Graph:
        """The mounted graph, of a store of one type."""
        if None not in self._graphs:
            raise AttributeError(f"{self._data!r} has a graph for each relation", name="graph")
        return self._graphs[None]

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """The edges as they lie in their files, in CSC: of one type, or of each relation.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl")
            >>> gm.pyg.GraphStore(gm.Graph("g.gl")).get_all_edge_attrs()[0].size
            (3, 3)
        """
        return [
            EdgeAttr(
                relation,
                EdgeLayout.CSC,
                is_sorted=True,
                size=(graph.num_sources, graph.num_destinations),
            )
            for relation, graph in self._graphs.items()
        ]

    def csr(self, edge_types: list[Any] | None = None, store: bool = False) -> Any:  # noqa: ANN401  (as in PyG)
        """The edges in CSR, with the ids of the edges as the permutation: three tensors.

        If the file has lists of outgoing edges with ids, these are used. Otherwise PyG sorts all
        edges in memory. For a dataset of many node types, three dicts by relation.

        Args:
            edge_types: The relations; all of them if None.
            store: Whether PyG keeps the sorted edges, if it has to sort them.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl", index_dtype="int64")
            >>> gm.pyg.GraphStore(gm.Graph("g.gl")).csr()
            (tensor([0, 1, 2, 3]), tensor([1, 0, 0]), tensor([2, 0, 1]))
        """
        wanted = list(self._graphs) if edge_types is None else edge_types
        found = {}
        for relation in wanted:
            ids = None
            if relation in self._graphs and "out" in self._graphs[relation].directions:
                ids = self._section(relation, "edge ids", "out")
            if ids is None:
                return super().csr(edge_types, store)
            found[relation] = (*self._lists(relation, "out"), ids.long())
        if None in self._graphs:
            return found[None]
        return tuple({name: three[part] for name, three in found.items()} for part in range(3))

    def _section(
        self, relation: EdgeType | None, name: str, direction: Direction
    ) -> torch.Tensor | None:
        graph = self._graphs[relation]
        view = graph._private_section(name, direction)  # noqa: SLF001  (a friend)
        return None if view is None else tensor_over(view, graph.path, stacklevel=4)

    def _lists(
        self, relation: EdgeType | None, direction: Direction
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Offsets and neighbors, both int64."""
        indptr = self._section(relation, "indptr", direction)
        indices = self._converted.get((relation, direction))
        if indices is None:
            indices = self._section(relation, "indices", direction)
        assert indptr is not None  # noqa: S101  (the core has checked that lists are complete)
        assert indices is not None  # noqa: S101
        if indices.dtype != torch.int64:
            warnings.warn(
                f"{self._graphs[relation].path} has int32 neighbors, and PyG wants int64: the copy "
                f"takes {indices.numel() * 8:,} bytes of memory. Compile the graph with "
                "index_dtype='int64', or sample with graphmount.pyg.NeighborSampler",
                ResourceWarning,
                stacklevel=2,
            )
            indices = self._converted[relation, direction] = indices.long()
        return indptr, indices

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[torch.Tensor, torch.Tensor] | None:
        relation = edge_attr.edge_type
        if relation not in self._graphs:
            return None
        if edge_attr.layout == EdgeLayout.CSR:
            return self._lists(relation, "out")
        colptr, row = self._lists(relation, "in")
        if edge_attr.layout == EdgeLayout.CSC:
            return row, colptr
        degrees = colptr.diff()
        return row, torch.repeat_interleave(torch.arange(len(degrees)), degrees)

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:  # noqa: ANN401, ARG002
        raise TypeError(self._refusal())

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:  # noqa: ARG002
        raise TypeError(self._refusal())

    def _refusal(self) -> str:
        return (
            f"{self._data.path}: edges cannot be changed, as a mounted graph is read-only; "
            "compile it again with the edges that you want"
        )
