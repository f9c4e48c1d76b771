"""The neighbor lists of a graph as a PyG `GraphStore`: read-only, in CSC, which is how they lie.

An edge's id is its place in these lists, so PyG needs no permutation, and nothing is sorted. The
tensors are the mounted file where it has int64, which is what PyG's own sampler asks for; what is
written to them stays in this process. The store pickles as the graph's path.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch_geometric.data
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from graphmount._dataset.dataset import Dataset
from graphmount._mount.graph import Graph
from graphmount._support.arguments import require_type
from graphmount.torch.tensor_views import tensor_over

if TYPE_CHECKING:
    from graphmount._support.direction import Direction


class GraphStore(torch_geometric.data.GraphStore):
    """The edges of a graph, as PyG asks for them; made by `Dataset.to_pyg`.

    There is one type of edges, `None`, listed in CSC: `row` are sources, `colptr` says where the
    list of each destination begins. CSR is served from the lists of outgoing edges, where the file
    has them, and COO is written out in memory.

    Neighbors are int32 in files of fewer than 2^31 nodes, and PyG's own sampler wants int64. So
    they are converted, once, which takes 8 bytes an edge of memory; a warning says how much. A
    graph compiled with `index_dtype="int64"` needs no copy, and `graphmount.pyg.NeighborSampler`
    needs neither. Writing to the tensors is safe and private: the file never changes, nor what
    graphmount samples.

    Args:
        graph: The graph, or the dataset that it is in.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl", index_dtype="int64")
        >>> row, colptr, perm = gm.pyg.GraphStore(gm.Graph("g.gl")).csc()
        >>> row, colptr, perm
        (tensor([1, 2, 0]), tensor([0, 2, 3, 3]), None)
    """

    def __init__(self, graph: Graph | Dataset) -> None:
        super().__init__()
        if not isinstance(graph, Graph):
            require_type("graph", graph, Dataset, "a mounted Graph or a Dataset")
            graph = graph.graph
        self._graph = graph
        self._converted: dict[Direction, torch.Tensor] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore, (self._graph,)

    def __repr__(self) -> str:
        return f"<GraphStore over {self._graph!r}>"

    @property
    def graph(self) -> Graph:
        """The mounted graph."""
        return self._graph

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """The edges as they lie in the file: one type, in CSC.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl")
            >>> gm.pyg.GraphStore(gm.Graph("g.gl")).get_all_edge_attrs()[0].size
            (3, 3)
        """
        size = (self._graph.num_nodes, self._graph.num_nodes)
        return [EdgeAttr(None, EdgeLayout.CSC, is_sorted=True, size=size)]

    def csr(
        self, edge_types: list[Any] | None = None, store: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """The edges in CSR, with the ids of the edges as the permutation.

        If the file has lists of outgoing edges with ids, these are used. Otherwise PyG sorts all
        edges in memory.

        Args:
            edge_types: The types of edges; there is only one, so None will do.
            store: Whether PyG keeps the sorted edges, if it has to sort them.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl", index_dtype="int64")
            >>> gm.pyg.GraphStore(gm.Graph("g.gl")).csr()
            (tensor([0, 1, 2, 3]), tensor([1, 0, 0]), tensor([2, 0, 1]))
        """
        if "out" in self._graph.directions:
            ids = self._section("edge ids", "out")
            if ids is not None:
                rowptr, col = self._lists("out")
                return rowptr, col, ids.long()
        found: tuple[torch.Tensor, torch.Tensor, torch.Tensor | None] = super().csr(
            edge_types, store
        )
        return found

    def _section(self, name: str, direction: Direction) -> torch.Tensor | None:
        view = self._graph._private_section(name, direction)  # noqa: SLF001  (a friend)
        return None if view is None else tensor_over(view, self._graph.path, stacklevel=4)

    def _lists(self, direction: Direction) -> tuple[torch.Tensor, torch.Tensor]:
        """Offsets and neighbors, both int64."""
        indptr = self._section("indptr", direction)
        indices = self._converted.get(direction)
        if indices is None:
            indices = self._section("indices", direction)
        assert indptr is not None  # noqa: S101  (the core has checked that lists are complete)
        assert indices is not None  # noqa: S101
        if indices.dtype != torch.int64:
            warnings.warn(
                f"{self._graph.path} has int32 neighbors, and PyG wants int64: the copy takes "
                f"{indices.numel() * 8:,} bytes of memory. Compile the graph with "
                "index_dtype='int64', or sample with graphmount.pyg.NeighborSampler",
                ResourceWarning,
                stacklevel=2,
            )
            indices = self._converted[direction] = indices.long()
        return indptr, indices

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[torch.Tensor, torch.Tensor] | None:
        if edge_attr.edge_type is not None:
            return None
        if edge_attr.layout == EdgeLayout.CSR:
            return self._lists("out")
        colptr, row = self._lists("in")
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
            f"{self._graph.path}: edges cannot be changed, as a mounted graph is read-only; "
            "compile it again with the edges that you want"
        )
