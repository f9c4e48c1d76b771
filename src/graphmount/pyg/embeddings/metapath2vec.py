"""PyG's `MetaPath2Vec` over graphmount's walks: its constructor and methods, for any size.

Walks are those of `TypedDataset.random_walk`, through the relations of a path, again and again. The
relations are mounted files. If they come as a dict of tensors, they are compiled into a temporary
dataset, which is removed with the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch

from graphmount._compile.dataset.compiler import compile_dataset
from graphmount._compile.dataset.typed_nodes import Nodes
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._support.arguments import as_count, as_plain, require_choice
from graphmount._support.shown import shown
from graphmount.pyg.embeddings.walk_embedding import WalkEmbedding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._mount.node_ids import IdReading


class MetaPath2Vec(WalkEmbedding):
    """PyG's `MetaPath2Vec`: embeddings of nodes of several types, learned from random walks.

    Walks start at the nodes of the type that the path begins at, and go through its relations, one
    after the other, from sources to destinations. Train it as PyG's example does: `loader()`
    returns walks, and random walks to compare them with; `loss` compares the two.

    Args:
        edge_index_dict: The edges of each relation, of shape (2, edges), by (source type, name,
            destination type); or a `TypedDataset`.
        embedding_dim: The length of an embedding.
        metapath: The relations that walks go through. Each begins at the type that the one before
            it leads to.
        walk_length: The number of steps of a walk. If there are more than relations, the path
            begins anew, and so must end at the type that it begins at.
        context_size: The number of nodes in a window. The first is trained to predict the others.
        walks_per_node: How many walks start at each node of a batch.
        num_negative_samples: How many random walks there are for each real one.
        num_nodes_dict: The number of nodes of each type; if None, the largest id of the type in all
            relations plus one.
        sparse: Whether gradients are sparse: a step then touches the rows of its batch only.
        weighted: For a dataset: whether walks choose edges in proportion to their weights.

    Raises:
        IdError: A node of a relation does not exist.
        MissingDataError: A relation has no outgoing edges and no reverse, or no weights.
        TypeError, ValueError: An argument has no meaning, or relations do not form a path.

    Examples:
        >>> import torch
        >>> import graphmount.pyg
        >>> edges = {
        ...     ("author", "writes", "paper"): torch.tensor([[0, 1, 1], [0, 0, 1]]),
        ...     ("paper", "written_by", "author"): torch.tensor([[0, 0, 1], [0, 1, 1]]),
        ... }
        >>> model = graphmount.pyg.MetaPath2Vec(
        ...     edges, 8, metapath=list(edges), walk_length=4, context_size=3, sparse=True
        ... )
        >>> optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
        >>> for pos_rw, neg_rw in model.loader(batch_size=2):
        ...     optimizer.zero_grad()
        ...     model.loss(pos_rw, neg_rw).backward()
        ...     optimizer.step()
        >>> model("author").shape
        torch.Size([2, 8])
    """

    def __init__(  # noqa: PLR0917  (PyG's)
        self,
        edge_index_dict: Mapping[EdgeType, torch.Tensor] | TypedDataset,
        embedding_dim: int,
        metapath: Sequence[EdgeType],
        walk_length: int,
        context_size: int,
        walks_per_node: int = 1,
        num_negative_samples: int = 1,
        num_nodes_dict: Mapping[str, int] | None = None,
        sparse: bool = False,
        *,
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
        self.walk_length = as_count(walk_length, "walk_length", least=1)
        if self.walk_length + 1 < self.context_size:
            raise ValueError(
                f"walk_length={walk_length} makes walks of {walk_length + 1} nodes, fewer than "
                f"context_size={context_size}: a walk has no room for a window"
            )
        self.metapath = _as_path(metapath, self.walk_length)
        self._weighted = weighted
        self._dataset = self._open(edge_index_dict, num_nodes_dict)
        self.num_nodes_dict = {name: nodes.num_nodes for name, nodes in self._dataset.nodes.items()}
        steps = [self.metapath[step % len(self.metapath)] for step in range(self.walk_length)]
        self._steps = steps
        self._walk_types = [steps[0][0], *(step[2] for step in steps)]
        # All types of the path in one table, in PyG's order, and behind them one row for where a
        # walk has ended.
        self.start: dict[str, int] = {}
        self.end: dict[str, int] = {}
        self._dataset._sampling.random_walk([], steps, weighted=weighted)  # noqa: SLF001  (checks)
        self.dummy_idx = 0
        for name in sorted({one for step in self.metapath for one in (step[0], step[2])}):
            self.start[name] = self.dummy_idx
            self.dummy_idx += self.num_nodes_dict[name]
            self.end[name] = self.dummy_idx
        self._embed(self.dummy_idx + 1)

    def _open(self, edges: Any, num_nodes: Mapping[str, int] | None) -> TypedDataset:  # noqa: ANN401
        """The relations to walk through: as they are mounted, or compiled of tensors."""
        if isinstance(edges, TypedDataset):
            if num_nodes is not None:
                raise ValueError("num_nodes_dict= is for tensors; a dataset has its own numbers")
            return edges
        if not isinstance(edges, Mapping):
            raise TypeError(
                f"edge_index_dict must be a dict of tensors or a TypedDataset, not {shown(edges)}"
            )
        for relation, ends in edges.items():
            if not isinstance(ends, torch.Tensor) or ends.ndim != 2 or len(ends) != 2:
                raise ValueError(
                    f"edge_index_dict[{relation!r}] must be a tensor of shape (2, edges), not "
                    f"{tuple(ends.shape) if isinstance(ends, torch.Tensor) else shown(ends)}"
                )
        if missing := [relation for relation in self.metapath if relation not in edges]:
            raise ValueError(f"metapath has {missing[0]}, and edge_index_dict has {list(edges)}")
        names = dict.fromkeys(name for relation in edges for name in (relation[0], relation[2]))
        given = num_nodes or {}
        path = self._temporary_path("dataset")
        compile_dataset(
            path,
            nodes={name: Nodes(num_nodes=given.get(name)) for name in names},
            edges={
                relation: tuple(as_plain(ends.detach().cpu(), f"edge_index_dict[{relation!r}]"))
                for relation, ends in edges.items()
            },
            order="given",
            neighbors="out",
            progress=False,
        )
        return TypedDataset(path)

    def _num_starts(self) -> int:
        return self.num_nodes_dict[self._walk_types[0]]

    def _walks(self, starts: torch.Tensor) -> torch.Tensor:
        walks = torch.from_numpy(
            self._dataset._sampling.random_walk(  # noqa: SLF001  (internal ids)
                starts.numpy(), self._steps, weighted=self._weighted
            )
        )
        return torch.where(walks < 0, self.dummy_idx, walks + self._offsets())

    def _others(self, starts: torch.Tensor) -> torch.Tensor:
        nodes = [
            torch.randint(self.num_nodes_dict[name], (len(starts),))
            for name in self._walk_types[1:]
        ]
        return torch.stack([starts, *nodes], dim=1) + self._offsets()

    def _offsets(self) -> torch.Tensor:
        """Where the embeddings of each node of a walk begin."""
        return torch.tensor([self.start[name] for name in self._walk_types])

    def forward(
        self,
        node_type: str,
        batch: Any = None,  # noqa: ANN401
        *,
        ids: IdReading | None = None,
    ) -> torch.Tensor:
        """The embeddings of nodes of one type.

        Args:
            node_type: The type, which must be one of the path.
            batch: The nodes: ids, a mask, or the name of a split of the dataset. All nodes of the
                type if None, in the order of **internal** ids.
            ids: Which ids the nodes are: "internal" for ids of the dataset, "external" for ids of
                its source. Needed only if the model was made from a reordered dataset and `batch`
                is neither the name of a split nor ids that the dataset returned.

        Raises:
            IdError: A node does not exist, or it is not known whose ids these are.
            ValueError: The path has no such type.

        Examples:
            >>> import torch
            >>> import graphmount.pyg
            >>> writes = ("author", "writes", "paper")
            >>> model = graphmount.pyg.MetaPath2Vec(
            ...     {writes: torch.tensor([[0, 1], [2, 2]])}, 8, [writes], 1, 2
            ... )
            >>> model("paper", torch.tensor([2])).shape
            torch.Size([1, 8])
        """
        if node_type not in self.start:
            raise ValueError(
                f"node_type={shown(node_type)}: the path has the types {list(self.start)}"
            )
        rows = self.embedding.weight[self.start[node_type] : self.end[node_type]]
        if batch is None:
            return rows
        if isinstance(batch, torch.Tensor) and batch.device.type != "cpu":
            batch = batch.cpu()
        nodes = self._dataset._nodes_of(node_type, batch, ids, "batch")  # noqa: SLF001
        return rows.index_select(0, torch.tensor(as_plain(nodes, "batch"), device=rows.device))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dummy_idx}, {self.embedding_dim})"


def _as_path(metapath: Any, walk_length: int) -> list[EdgeType]:  # noqa: ANN401
    """The relations of a path, which a walk of this length can follow."""
    path = [tuple(relation) for relation in metapath]
    if not path or any(len(relation) != 3 for relation in path):
        raise ValueError(
            "metapath must be a list of relations, such as [('author', 'writes', 'paper')], not "
            f"{shown(metapath)}"
        )
    following = [*pairwise(path)]
    if walk_length > len(path):
        following.append((path[-1], path[0]))
    for one, two in following:
        if one[2] != two[0]:
            again = ", which a walk as long as walk_length begins anew," if two == path[0] else ""
            raise ValueError(
                f"metapath: {one} leads to {one[2]!r}, and {two}{again} begins at {two[0]!r}"
            )
    return path
