"""Samples as sparse matrices: message passing as a product of matrices.

Rows are the nodes that messages go to, columns those that they come from, so that `matrix @ x` sums
the rows of the neighbors of each node. Every edge is an entry of its own, in the order of the
sample, so that a mean over neighbors counts an edge as often as it was sampled. Nothing is sorted
for it where the sampler says where the edges of each node begin.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import torch

from graphmount import _core
from graphmount._support.arguments import as_count, require_choice, require_type
from graphmount._support.shown import shown
from graphmount.torch.batches.sampled_edges import SampledEdges, plain_edges, relations_of

if TYPE_CHECKING:
    from graphmount._dataset.typed.results import EdgeType, TypedSampleParts
    from graphmount._mount.results import SampleParts

with warnings.catch_warnings():
    # Torch says once in each process that such tensors are new: here, and not in a training loop.
    # There, `catch_warnings` would make every other warning come again with each batch.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    torch.sparse_csr_tensor([0, 1], [0], [1.0], size=(1, 1), check_invariants=True)


@overload
def to_sparse_csr(
    sample: TypedSampleParts[Any],
    *,
    hops: int | None = None,
    values: Mapping[EdgeType, torch.Tensor] | None = None,
    merge: bool = False,
) -> dict[EdgeType, torch.Tensor]: ...


@overload
def to_sparse_csr(
    sample: SampleParts[Any],
    *,
    hops: int | None = None,
    values: torch.Tensor | None = None,
    merge: bool = False,
) -> torch.Tensor: ...


@overload  # PyG's Data, or its HeteroData
def to_sparse_csr(
    sample: Any,  # noqa: ANN401
    *,
    hops: int | None = None,
    values: Any = None,  # noqa: ANN401
    merge: bool = False,
) -> Any: ...  # noqa: ANN401


def to_sparse_csr(
    sample: Any,
    *,
    hops: int | None = None,
    values: Any = None,
    merge: bool = False,
) -> Any:
    """The edges of a sample as a sparse CSR tensor, whose rows are the targets of messages.

    Of a sample of many types, a dict has such a matrix for each relation, between the nodes of its
    types. Without `hops`, models of PyG's `to_hetero` take that dict in the place of the one of
    `edge_index`.

    Args:
        sample: A batch of a loader, or what `Graph.sample_neighbors` or
            `TypedDataset.sample_neighbors` returns.
        hops: Take only the edges of the first `hops` hops. The rows are then the nodes that these
            edges lead to, and the columns the nodes up to that hop: a model of L layers needs
            `hops=L` in its first layer, `hops=L - 1` in its second, and so on. If None, take all
            edges, with a row and a column for each node.
        values: One value for each edge of the sample, such as its weight; 1 if None. Of many
            types, a dict has such values for some relations.
        merge: True makes edges between the same two nodes one entry, whose value is the sum of
            theirs, and sorts the columns of each row. By default every edge has its own entry, as
            a mean over neighbors needs it.

    Returns:
        A float32 tensor, or one of the dtype of `values`; of many types, a dict of them by
        relation.

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
    require_choice("merge", merge, (False, True))
    relations = relations_of(sample)
    if relations is None:
        return _matrix_of(plain_edges(sample), hops, values, merge=merge)
    values = {} if values is None else values
    if not isinstance(values, Mapping) or not set(values) <= set(relations):
        raise ValueError(
            f"values must be a dict of tensors for some of {list(relations)}, not {shown(values)}"
        )
    return {
        relation: _matrix_of(edges, hops, values.get(relation), merge=merge)
        for relation, edges in relations.items()
    }


def _matrix_of(
    edges: SampledEdges, hops: int | None, values: torch.Tensor | None, *, merge: bool
) -> torch.Tensor:
    columns, rows, indptr = edges.columns, edges.rows, edges.starts
    if values is None:
        values = torch.ones(len(columns), device=columns.device)
    require_type("values", values, torch.Tensor, "a tensor")
    if values.shape != columns.shape:
        raise ValueError(
            f"values has the shape {tuple(values.shape)}; give one number for each of "
            f"{len(columns)} edges"
        )
    size, num_edges = edges.size, len(columns)
    if hops is not None:
        *extent, num_edges = _extent(edges, hops)
        size = (extent[0], extent[1])
        columns, rows, values = columns[:num_edges], rows[:num_edges], values[:num_edges]
        if num_edges and indptr is None and int(rows.max()) >= size[0]:
            raise ValueError(
                "hops: the edges of these hops lead to nodes of later hops, as they do in samples "
                'with direction="out"; leave hops out for all edges'
            )
    if merge:
        return _merged(rows, columns, values, size)
    if indptr is None:
        if not bool((rows[1:] >= rows[:-1]).all()):
            rows, order = torch.sort(rows, stable=True)
            columns, values = columns[order], values[order]
        indptr = torch.searchsorted(rows, torch.arange(size[0] + 1, device=rows.device))
    # Nodes of the last hop have no edges: theirs begin where all others have ended.
    missing = size[0] + 1 - len(indptr)
    if missing > 0:
        indptr = torch.cat([indptr, indptr.new_full((missing,), num_edges)])
    return csr_tensor(indptr[: size[0] + 1], columns, values, size)


def csr_tensor(
    indptr: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, size: tuple[int, int]
) -> torch.Tensor:
    """The matrix over this memory, after checks of all that a product will follow.

    Torch's own checks want the columns of a row in order and each of them once, which no product
    needs.
    """
    does_fit = len(indptr) == size[0] + 1 and len(columns) == len(values)
    _require(does_fit and are_lists_sound(indptr, columns, size[1]))
    return torch.sparse_csr_tensor(indptr, columns, values, size=size, check_invariants=False)


def are_lists_sound(indptr: torch.Tensor, columns: torch.Tensor, num_columns: int) -> bool:
    """Whether the rows follow each other from the first entry to the last, all of them columns."""
    if indptr.device.type == "cpu" and indptr.dtype == columns.dtype == torch.int64:
        # One pass in the core; each of torch's would wake its threads.
        entries = columns.contiguous().numpy()
        return _core.are_lists_sound((indptr.contiguous().numpy(), entries, num_columns))
    return (
        int(indptr[0]) == 0
        and int(indptr[-1]) == len(columns)
        and bool((indptr[1:] >= indptr[:-1]).all())
        and _are_below(columns, num_columns)
    )


def _are_below(numbers: torch.Tensor, end: int) -> bool:
    if not len(numbers):
        return True
    least, most = numbers.aminmax()
    return int(least) >= 0 and int(most) < end


def _require(is_sound: bool) -> None:
    if not is_sound:
        raise ValueError(
            "the edges of this sample do not belong to its nodes: a field of it was changed; take "
            "batches and samples as loaders and graphs give them"
        )


def _merged(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, size: tuple[int, int]
) -> torch.Tensor:
    """The matrix with one entry for all edges between the same two nodes."""
    _require(
        _are_below(rows, size[0]) and _are_below(columns, size[1])
    )  # or its key is another edge's
    # By row, then by column; `unique` sorts, and its inverse says where each edge went.
    keys, places = torch.unique(rows * max(1, size[1]) + columns, return_inverse=True)
    counts = torch.bincount(
        torch.div(keys, max(1, size[1]), rounding_mode="floor"), minlength=size[0]
    )
    indptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    summed = values.new_zeros(len(keys)).index_add(0, places, values)
    return csr_tensor(indptr, keys % max(1, size[1]), summed, size)


def _extent(edges: SampledEdges, hops: int) -> tuple[int, int, int]:
    """Rows, columns and edges of the first hops."""
    targets, sources = edges.num_sampled_targets, edges.num_sampled_sources
    if edges.num_sampled_edges is None or targets is None or sources is None:
        raise ValueError(
            "hops: the edges of this sample are not in the order of hops; sample with "
            'subgraph_type="directional", or leave hops out'
        )
    count = as_count(hops, "hops", least=1, most=len(edges.num_sampled_edges))
    return (
        sum(targets[:count]),
        sum(sources[: count + 1]),
        sum(edges.num_sampled_edges[:count]),
    )
