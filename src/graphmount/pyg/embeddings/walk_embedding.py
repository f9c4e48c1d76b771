"""What embeddings learned from random walks share: windows, the loss, and the test.

A model says which walks start at some nodes, and what else could follow these nodes. Windows of
both are told apart by the products of embeddings.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from contextlib import ExitStack
from typing import Any

import torch
from torch.nn import Embedding
from torch.nn.functional import logsigmoid
from torch.utils.data import DataLoader

from graphmount._mount.node_reading import require_nodes
from graphmount._support.arguments import as_count, as_ids, require_choice
from graphmount._support.files.temporary_folders import temporary_folder


class WalkEmbedding(torch.nn.Module):
    """A model that has an embedding for each node, and walks.

    Args:
        embedding_dim: The length of an embedding.
        context_size: The number of nodes in a window.
        walks_per_node: How many walks start at each node of a batch.
        num_negative_samples: How many random walks there are for each real one.
        sparse: Whether gradients are sparse.
    """

    def __init__(
        self,
        *,
        embedding_dim: int,
        context_size: int,
        walks_per_node: int,
        num_negative_samples: int,
        sparse: bool,
    ) -> None:
        super().__init__()
        require_choice("sparse", sparse, (False, True))
        self.embedding_dim = as_count(embedding_dim, "embedding_dim", least=1)
        self.context_size = as_count(context_size, "context_size", least=2)
        self.walks_per_node = as_count(walks_per_node, "walks_per_node", least=1)
        self.num_negative_samples = as_count(num_negative_samples, "num_negative_samples", least=1)
        self._is_sparse = sparse

    def _embed(self, num_rows: int) -> None:
        self.embedding = Embedding(num_rows, self.embedding_dim, sparse=self._is_sparse)
        self.reset_parameters()

    def _temporary_path(self, name: str) -> str:
        """A path in a folder that is removed with the model."""
        kept = ExitStack()
        weakref.finalize(self, kept.close)
        folder = temporary_folder(tempfile.gettempdir(), prefix="graphmount-embedding-")
        return os.path.join(kept.enter_context(folder), name)

    def _num_starts(self) -> int:
        """How many nodes walks can start at: they have the ids from 0 on."""
        raise NotImplementedError

    def _walks(self, starts: torch.Tensor) -> torch.Tensor:
        """A walk from each start: rows of embeddings."""
        raise NotImplementedError

    def _others(self, starts: torch.Tensor) -> torch.Tensor:
        """A walk from each start whose next nodes are drawn from all that could be there."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Draws all embeddings anew.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> model = graphmount.pyg.Node2Vec(torch.tensor([[0, 1], [1, 0]]), 2, 2, 2)
            >>> model.reset_parameters()
        """
        self.embedding.reset_parameters()

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
        nodes: Any = range(self._num_starts())
        return DataLoader(nodes, collate_fn=self.sample, **options)

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
        return self._windows(self._walks(self._starts(batch).repeat(self.walks_per_node)))

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
        return self._windows(self._others(starts))

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
        require_nodes(nodes, self._num_starts(), "batch[{}]")
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
                f"{type(self).__name__}.test needs scikit-learn; install it with: pip install "
                "scikit-learn"
            ) from error
        arrays = [part.detach().cpu().numpy() for part in (train_z, train_y, test_z, test_y)]
        fitted = LogisticRegression(*args, solver=solver, **kwargs).fit(arrays[0], arrays[1])
        return float(fitted.score(arrays[2], arrays[3]))
