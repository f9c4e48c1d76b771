"""PyG's `Node2Vec` over graphmount's walks: its constructor and methods, and no pyg-lib.

Walks are those of `Graph.random_walk`, so `p` and `q` other than 1 work on a processor, and so do
weights. The graph is a mounted file. If it comes as an `edge_index`, it is compiled into a
temporary one, which is removed with the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphmount._compile.graph_compiler import compile_graph
from graphmount._dataset.dataset import Dataset
from graphmount._loading.data.loader_data import LoaderData
from graphmount._loading.inputs import as_input_nodes
from graphmount._mount.graph import Graph
from graphmount._support.arguments import as_count, as_plain, require_choice
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError
from graphmount.pyg.embeddings.walk_embedding import WalkEmbedding

if TYPE_CHECKING:
    from graphmount._mount.node_ids import IdReading


class Node2Vec(WalkEmbedding):
    """PyG's `Node2Vec`: embeddings of nodes, learned from random walks.

    Train it as PyG's example does: `loader()` returns walks, and random walks to compare them with;
    `loss` compares the two; `torch.optim.SparseAdam` takes the gradients if `sparse=True`. Row i of
    the embedding belongs to node i of the graph: the ids are those of `edge_index`, or the
    **internal** ids of a dataset.

    Args:
        edge_index: The edges, of shape (2, edges); or a mounted `Graph` with lists of outgoing
            edges; or a `Dataset` with such a graph.
        embedding_dim: The length of an embedding.
        walk_length: The number of nodes of a walk, its start included.
        context_size: The number of nodes in a window. The first is trained to predict the others.
        walks_per_node: How many walks start at each node of a batch.
        p: The larger, the less likely a walk goes straight back to the node it came from.
        q: The larger, the less likely a walk moves on to nodes that are no neighbors of the node it
            came from.
        num_negative_samples: How many random walks there are for each real one.
        num_nodes: The number of nodes; the largest id in `edge_index` plus one if None.
        sparse: Whether gradients are sparse: a step then touches the rows of its batch only.
        edge_weight: A weight for each edge of `edge_index`. If given, walks choose edges in
            proportion to it.
        weighted: For a mounted graph: whether walks choose edges in proportion to their weights.

    Raises:
        IdError: A node of `edge_index` does not exist.
        MissingDataError: The graph has no lists of outgoing edges, or no weights.
        TypeError, ValueError: An argument has no meaning.

    Examples:
        >>> import torch
        >>> import graphmount.pyg
        >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=4, context_size=2, sparse=True)
        >>> optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
        >>> for pos_rw, neg_rw in model.loader(batch_size=4):
        ...     optimizer.zero_grad()
        ...     model.loss(pos_rw, neg_rw).backward()
        ...     optimizer.step()
        >>> model().shape
        torch.Size([4, 8])
    """

    def __init__(  # noqa: PLR0917  (PyG's)
        self,
        edge_index: torch.Tensor | Graph | Dataset,
        embedding_dim: int,
        walk_length: int,
        context_size: int,
        walks_per_node: int = 1,
        p: float = 1.0,
        q: float = 1.0,
        num_negative_samples: int = 1,
        num_nodes: int | None = None,
        sparse: bool = False,
        *,
        edge_weight: torch.Tensor | None = None,
        weighted: bool = False,
    ) -> None:
        super().__init__(
            embedding_dim=embedding_dim,
            context_size=context_size,
            walks_per_node=walks_per_node,
            num_negative_samples=num_negative_samples,
            sparse=sparse,
        )
        require_choice("weighted", weighted, (False, True))
        self.walk_length = as_count(walk_length, "walk_length", least=2)
        if self.walk_length < self.context_size:
            raise ValueError(
                f"walk_length={walk_length} is less than context_size={context_size}: a walk has "
                "no room for a window"
            )
        self._data = self._open(edge_index, num_nodes, edge_weight)
        self.num_nodes = self._data.graph.num_nodes
        self._options = {
            "p": p,
            "q": q,
            "weighted": weighted or edge_weight is not None,
            "direction": "out",
        }
        self._walks(torch.empty(0, dtype=torch.int64))  # options that are wrong fail here
        self._embed(self.num_nodes)

    def _open(self, edges: Any, num_nodes: int | None, weights: Any) -> LoaderData:  # noqa: ANN401
        """The graph to walk on: as it is mounted, or compiled of an `edge_index`."""
        if isinstance(edges, Graph | Dataset):
            for name, given in {"num_nodes": num_nodes, "edge_weight": weights}.items():
                if given is not None:
                    raise ValueError(f"{name}= is for an edge_index; a mounted graph has its own")
            dataset = edges if isinstance(edges, Dataset) else None
            graph = edges.graph if isinstance(edges, Dataset) else edges
            if "out" not in graph.directions:
                raise MissingDataError(
                    f"{graph.path} has no lists of outgoing edges, along which walks go; compile "
                    'it with neighbors="both"'
                )
            return LoaderData(graph=graph, dataset=dataset)
        if not isinstance(edges, torch.Tensor):
            raise TypeError(
                f"edge_index must be a tensor, a Graph or a Dataset, not {shown(edges)}"
            )
        if edges.ndim != 2 or len(edges) != 2:
            raise ValueError(
                f"edge_index has the shape {tuple(edges.shape)}; give (2, edges): sources and "
                "destinations"
            )
        source, destination = as_plain(edges.detach().cpu(), "edge_index")
        path = self._temporary_path("graph.gl")
        compile_graph(
            (source, destination),
            path,
            weights=None if weights is None else as_plain(weights.detach().cpu(), "edge_weight"),
            num_nodes=num_nodes,
            neighbors="out",
            progress=False,
        )
        return LoaderData(graph=Graph(path))

    def forward(self, batch: Any = None, *, ids: IdReading | None = None) -> torch.Tensor:  # noqa: ANN401
        """The embeddings of nodes.

        Args:
            batch: The nodes: ids, a mask, or the name of a split of the dataset. All nodes if None,
                in the order of **internal** ids.
            ids: Which ids the nodes are: "internal" for ids of the dataset, "external" for ids of
                its source. Needed only if the model was made from a reordered dataset and `batch`
                is neither the name of a split nor ids that the dataset returned.

        Raises:
            IdError: A node does not exist, or it is not known whose ids these are.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> model = graphmount.pyg.Node2Vec(torch.tensor([[0, 1], [1, 0]]), 8, 2, 2)
            >>> model(torch.tensor([1])).shape
            torch.Size([1, 8])
        """
        weight = self.embedding.weight
        if batch is None:
            return weight
        if isinstance(batch, torch.Tensor) and batch.device.type != "cpu":
            batch = batch.cpu()
        nodes = torch.tensor(as_input_nodes(batch, self._data, ids), device=weight.device)
        return weight.index_select(0, nodes)

    def _num_starts(self) -> int:
        return self.num_nodes

    def _walks(self, starts: torch.Tensor) -> torch.Tensor:
        graph = self._data.graph
        walks = graph.random_walk(
            graph._mark(starts.numpy()),  # noqa: SLF001  (internal ids)
            self.walk_length - 1,
            **self._options,  # type: ignore[arg-type]  # which the call checks
        )
        return torch.from_numpy(walks)

    def _others(self, starts: torch.Tensor) -> torch.Tensor:
        others = torch.randint(self.num_nodes, (len(starts), self.walk_length - 1))
        return torch.cat([starts[:, None], others], dim=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_nodes}, {self.embedding_dim})"
