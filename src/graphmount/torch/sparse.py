"""Samples as sparse matrices: message passing as a product of matrices.

Rows are the nodes that messages go to, columns those that they come from, so that `matrix @ x` sums
the rows of the neighbors of each node. Torch wants the columns of a row in order, and each of them
once: edges that are there more than once become one entry, which counts them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

from graphmount._support.arguments import as_count, require_type
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from graphmount._loading.batches.batch import Batch
    from graphmount._mount.results import NeighborSample
    from graphmount.torch.tensor_batch import TensorBatch


def to_sparse_csr(
    sample: TensorBatch | Batch | NeighborSample,
    *,
    hops: int | None = None,
    values: torch.Tensor | None = None,
) -> torch.Tensor:
    """The edges of a sample as a sparse CSR tensor, whose rows are the targets of messages.

    Args:
        sample: A batch of a loader, or what `Graph.sample_neighbors` returns.
        hops: Take only the edges of the first `hops` hops. The rows are then the nodes that these
            edges lead to, and the columns the nodes up to that hop: a model of L layers needs
            `hops=L` in its first layer, `hops=L - 1` in its second, and so on. If None, take all
            edges, with a row and a column for each node.
        values: One value for each edge of the sample, such as its weight; 1 if None. Values of
            several edges between the same nodes are added up.

    Returns:
        A float32 tensor, or one of the dtype of `values`.

    Raises:
        ValueError: The sample has fewer hops, its edges are not in the order of hops, or they lead
            to nodes of later hops, as in samples with `direction="out"`; or `values` has another
            number of rows than there are edges.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> sample = gm.Graph("g.gl").sample_neighbors([0], [-1, -1])
        >>> gm.torch.to_sparse_csr(sample, hops=1).to_dense()
        tensor([[0., 1., 1.]])
        >>> x = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
        >>> gm.torch.to_sparse_csr(sample) @ x
        tensor([[6.],
                [8.],
                [0.],
                [0.]])
    """
    src, dst = _ends(sample)
    if values is None:
        values = torch.ones(len(src))
    require_type("values", values, torch.Tensor, "a tensor")
    if values.shape != src.shape:
        raise ValueError(
            f"values has the shape {tuple(values.shape)}; give one number for each of {len(src)} "
            "edges"
        )
    num_rows = num_columns = len(sample.nodes)
    if hops is not None:
        num_rows, num_columns, num_edges = _extent(sample, hops)
        src, dst, values = src[:num_edges], dst[:num_edges], values[:num_edges]
        if num_edges and int(dst.max()) >= num_rows:
            raise ValueError(
                "hops: the edges of these hops lead to nodes of later hops, as they do in samples "
                'with direction="out"; leave hops out for all edges'
            )
    # By row, then by column; `unique` sorts, and its inverse says where each edge went.
    keys, places = torch.unique(dst * max(1, num_columns) + src, return_inverse=True)
    rows = torch.div(keys, max(1, num_columns), rounding_mode="floor")
    counts = torch.bincount(rows, minlength=num_rows)
    with warnings.catch_warnings():
        # Torch says once in each process that these tensors are new.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
            keys % max(1, num_columns),
            values.new_zeros(len(keys)).index_add(0, places, values),
            size=(num_rows, num_columns),
            check_invariants=True,
        )


def _ends(sample: TensorBatch | Batch | NeighborSample) -> tuple[torch.Tensor, torch.Tensor]:
    """Where edges come from, and where they lead to."""
    edge_index = getattr(sample, "edge_index", None)
    if isinstance(edge_index, torch.Tensor):
        return edge_index[0], edge_index[1]
    if not hasattr(sample, "row") or not hasattr(sample, "col"):
        raise TypeError(f"to_sparse_csr takes a batch or a NeighborSample, not {shown(sample)}")
    return torch.from_numpy(sample.row), torch.from_numpy(sample.col)


def _extent(sample: TensorBatch | Batch | NeighborSample, hops: int) -> tuple[int, int, int]:
    """Rows, columns and edges of the first hops."""
    if sample.num_sampled_edges is None:
        raise ValueError(
            "hops: the edges of this sample are not in the order of hops; sample with "
            'subgraph_type="directional", or leave hops out'
        )
    count = as_count(hops, "hops", least=1, most=len(sample.num_sampled_edges))
    return (
        sum(sample.num_sampled_nodes[:count]),
        sum(sample.num_sampled_nodes[: count + 1]),
        sum(sample.num_sampled_edges[:count]),
    )
