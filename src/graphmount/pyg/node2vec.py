"""PyG's `Node2Vec` over graphmount's walks: its constructor and methods, and no pyg-lib.

Walks are those of `Graph.random_walk`, so `p` and `q` other than 1 work on a processor, and so do
weights. The graph is a mounted file. If it comes as an `edge_index`, it is compiled into a
temporary one, which is removed with the model.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import Embedding
from torch.nn.functional import logsigmoid
from torch.utils.data import DataLoader

from graphmount._compile.graph_compiler import compile_graph
from graphmount._dataset.dataset import Dataset
from graphmount._loading.inputs import LoaderData, as_input_nodes
from graphmount._mount.graph import Graph
from graphmount._mount.node_reading import require_nodes
from graphmount._support.arguments import as_count, as_ids, as_plain, require_choice
from graphmount._support.files.temporary_folders import temporary_folder
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    from graphmount._mount.node_ids import IdReading


class Node2Vec(torch.nn.Module):
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
        super().__init__()
        require_choice("sparse", sparse, (False, True))
        require_choice("weighted", weighted, (False, True))
        self.embedding_dim = as_count(embedding_dim, "embedding_dim", least=1)
        self.context_size = as_count(context_size, "context_size", least=2)
        self.walk_length = as_count(walk_length, "walk_length", least=2)
        if self.walk_length < self.context_size:
            raise ValueError(
                f"walk_length={walk_length} is less than context_size={context_size}: a walk has "
                "no room for a window"
            )
        self.walks_per_node = as_count(walks_per_node, "walks_per_node", least=1)
        self.num_negative_samples = as_count(num_negative_samples, "num_negative_samples", least=1)
        self._data = self._open(edge_index, num_nodes, edge_weight)
        self.num_nodes = self._data.graph.num_nodes
        self._options = {
            "p": p,
            "q": q,
            "weighted": weighted or edge_weight is not None,
            "direction": "out",
        }
        self._walks(np.empty(0, np.int64))  # options that are wrong fail here
        self.embedding = Embedding(self.num_nodes, self.embedding_dim, sparse=sparse)
        self.reset_parameters()

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
        kept = ExitStack()
        weakref.finalize(self, kept.close)
        folder = temporary_folder(tempfile.gettempdir(), prefix="graphmount-node2vec-")
        path = os.path.join(kept.enter_context(folder), "graph.gl")
        compile_graph(
            (source, destination),
            path,
            weights=None if weights is None else as_plain(weights.detach().cpu(), "edge_weight"),
            num_nodes=num_nodes,
            neighbors="out",
            progress=False,
        )
        return LoaderData(graph=Graph(path))

    def reset_parameters(self) -> None:
        """Draws all embeddings anew.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> model = graphmount.pyg.Node2Vec(torch.tensor([[0, 1], [1, 0]]), 2, 2, 2)
            >>> model.reset_parameters()
        """
        self.embedding.reset_parameters()

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

    def loader(self, **options: Any) -> DataLoader[Any]:  # noqa: ANN401
        """Batches of nodes, each with its walks and the random ones, as `loss` takes them.

        Args:
            options: Options of `torch.utils.data.DataLoader`, such as `batch_size`, `shuffle` and
                `num_workers`.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
            >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=3, context_size=3)
            >>> [pos_rw.tolist() for pos_rw, neg_rw in model.loader(batch_size=2)]
            [[[0, 1, 2], [1, 2, 3]], [[2, 3, 0], [3, 0, 1]]]
        """
        nodes: Any = range(self.num_nodes)
        return DataLoader(nodes, collate_fn=self.sample, **options)

    def _walks(self, starts: np.ndarray[Any, np.dtype[np.int64]]) -> torch.Tensor:
        graph = self._data.graph
        walks = graph.random_walk(
            graph._mark(starts),  # noqa: SLF001  (internal ids)
            self.walk_length - 1,
            **self._options,  # type: ignore[arg-type]  # which the call checks
        )
        return torch.from_numpy(walks)

    def _windows(self, walks: torch.Tensor) -> torch.Tensor:
        """All windows of all walks: those at the same place of each walk together, as in PyG."""
        windows = walks.unfold(1, self.context_size, 1)
        return windows.transpose(0, 1).reshape(-1, self.context_size)

    def pos_sample(self, batch: torch.Tensor) -> torch.Tensor:
        """Windows of walks from these nodes: (windows, context_size).

        Args:
            batch: The nodes to start from, as internal ids.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
            >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=3, context_size=2)
            >>> model.pos_sample(torch.tensor([0]))
            tensor([[0, 1],
                    [1, 2]])
        """
        starts = self._starts(batch).repeat(self.walks_per_node)
        return self._windows(self._walks(starts.numpy()))

    def neg_sample(self, batch: torch.Tensor) -> torch.Tensor:
        """Windows that begin at these nodes and go on with any: (windows, context_size).

        Args:
            batch: The nodes to start from, as internal ids.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
            >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=3, context_size=2)
            >>> model.neg_sample(torch.tensor([0])).shape
            torch.Size([2, 2])
        """
        starts = self._starts(batch).repeat(self.walks_per_node * self.num_negative_samples)
        others = torch.randint(self.num_nodes, (len(starts), self.walk_length - 1))
        return self._windows(torch.cat([starts[:, None], others], dim=1))

    def sample(self, batch: list[int] | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Windows of walks from these nodes, and random ones.

        Args:
            batch: The nodes to start from, as internal ids.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
            >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=2, context_size=2)
            >>> pos_rw, neg_rw = model.sample([0, 3])
            >>> pos_rw
            tensor([[0, 1],
                    [3, 0]])
        """
        nodes = self._starts(batch)
        return self.pos_sample(nodes), self.neg_sample(nodes)

    def _starts(self, batch: list[int] | torch.Tensor) -> torch.Tensor:
        nodes = as_ids(batch, "batch")
        require_nodes(nodes, self.num_nodes, "batch[{}]")
        return torch.tensor(nodes)

    def loss(self, pos_rw: torch.Tensor, neg_rw: torch.Tensor) -> torch.Tensor:
        """The loss: how badly the embeddings tell windows of walks from random windows.

        Args:
            pos_rw: Windows of walks, as `pos_sample` returns them.
            neg_rw: Random windows, as `neg_sample` returns them.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
            >>> model = graphmount.pyg.Node2Vec(ring, 8, walk_length=2, context_size=2)
            >>> model.loss(*model.sample([0, 3])).item() > 0
            True
        """
        near, far = self._scores(pos_rw), self._scores(neg_rw)
        return -logsigmoid(near).mean() - logsigmoid(-far).mean()

    def _scores(self, windows: torch.Tensor) -> torch.Tensor:
        """For each window, the products of its first node's embedding with those of the others."""
        rows = self.embedding(windows)
        return torch.einsum("wd,wcd->wc", rows[:, 0], rows[:, 1:])

    def test(
        self,
        train_z: torch.Tensor,
        train_y: torch.Tensor,
        test_z: torch.Tensor,
        test_y: torch.Tensor,
        solver: str = "lbfgs",
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> float:
        """Fits a logistic regression of labels on embeddings, and returns its accuracy.

        It needs scikit-learn.

        Args:
            train_z: The embeddings to fit the regression to.
            train_y: The labels of `train_z`.
            test_z: The embeddings to test it on.
            test_y: The labels of `test_z`.
            solver: The solver that scikit-learn's `LogisticRegression` uses.
            args: Other arguments of that class, by position.
            kwargs: Other arguments of that class, by name.

        Raises:
            ImportError: scikit-learn is not installed.

        Examples:
            >>> from importlib.util import find_spec
            >>> import torch
            >>> import graphmount.pyg
            >>> model = graphmount.pyg.Node2Vec(torch.tensor([[0, 1], [1, 0]]), 8, 2, 2)
            >>> z, y = torch.tensor([[0.0], [0.1], [5.0], [5.1]]), torch.tensor([0, 0, 1, 1])
            >>> find_spec("sklearn") is None or model.test(z, y, z, y) == 1
            True
        """
        try:
            from sklearn.linear_model import LogisticRegression
        except ImportError as error:
            raise ImportError(
                "Node2Vec.test needs scikit-learn; install it with: pip install scikit-learn"
            ) from error
        arrays = [part.detach().cpu().numpy() for part in (train_z, train_y, test_z, test_y)]
        fitted = LogisticRegression(*args, solver=solver, **kwargs).fit(arrays[0], arrays[1])
        return float(fitted.score(arrays[2], arrays[3]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_nodes}, {self.embedding_dim})"
