"""What edges count in a GCN: by the degrees of both of their ends."""

from __future__ import annotations

import torch

from graphmount._support.shown import shown
from graphmount.torch.batches.sparse import csr_tensor
from graphmount.torch.nn.edges import Edges, edges_of


def gcn_norm(adj: torch.Tensor) -> torch.Tensor:
    """The matrix of a layer with the weights of a GCN, for layers of PyG.

    As PyG's `gcn_norm`, for matrices with fewer rows than columns: every target gets an edge from
    itself, in the place of those that are there, and an edge counts 1 / sqrt(d(source) d(target)),
    where d is the number of edges that lead to a node in this layer. Nodes that are only sources
    have the degree 1, as in PyG with `trim_to_layer`. PyG's `GCNConv(..., normalize=False)` takes
    it; `SAGEConv(..., aggr="sum", root_weight=False)` computes the same, and sums before it
    multiplies, which is much faster where sources are many.

    Args:
        adj: A matrix of `batch.adjs`, or another sparse CSR tensor whose rows are targets, and
            whose values are 1.

    Returns:
        A sparse CSR tensor of the same shape.

    Raises:
        TypeError: `adj` is no sparse CSR tensor.
        ValueError: It has values other than 1, or more rows than columns.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch.nn
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
        >>> gm.torch.nn.gcn_norm(batch.adjs[0]).to_dense()
        tensor([[0.3333, 0.5774, 0.5774]])
    """
    if not isinstance(adj, torch.Tensor) or adj.layout != torch.sparse_csr:
        raise TypeError(
            f"adj must be a sparse CSR tensor, such as those of batch.adjs, not {shown(adj)}"
        )
    edges = edges_of(adj, adj.size(1), adj.size(0)).with_self_loops()
    factors = gcn_factors(edges, adj.dtype)
    return csr_tensor(edges.starts, edges.sources, factors, (adj.size(0), adj.size(1)))


def gcn_factors(edges: Edges, dtype: torch.dtype) -> torch.Tensor:
    """What each edge counts, if all targets have one from themselves."""
    counts = edges.starts.diff()
    of_sources = torch.ones(edges.num_sources, dtype=dtype)
    of_sources[: edges.num_targets] = counts.to(dtype).rsqrt()
    of_targets = of_sources[: edges.num_targets].repeat_interleave(
        counts, output_size=len(edges.sources)
    )
    return of_sources[edges.sources] * of_targets
