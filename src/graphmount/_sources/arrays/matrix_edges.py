"""Edges of SciPy's sparse matrices, in memory or in archives: A[i, j] is an edge from i to j.

Every stored entry is an edge, explicit zeros and duplicates too. Arrays in memory are read where
they are, batch by batch.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.column_edges import ColumnEdges
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeSource

#: The formats of matrices that are read.
MATRIX_FORMATS = ("csr", "csc", "coo")


def matrix_edges(
    name: str,
    kind: str,
    shape: tuple[int, ...],
    part: Callable[[str], Stream],
    values: Mapping[str, Stream | None],
) -> EdgeSource:
    """Edges of a matrix.

    Args:
        name: What messages call it.
        kind: One of `MATRIX_FORMATS`.
        shape: Its shape.
        part: Gives what SciPy calls "row" and "col", or "indptr" and "indices".
        values: Weights and timestamps of the edges.

    Raises:
        SourceError: The matrix is not square, or its parts are of another one.
    """
    require_square(name, shape)
    if kind == "coo":
        ends = part("row"), part("col")
        return ColumnEdges(name=name, ends=ends, values=values, num_nodes=shape[0])
    source = ListEdges(
        name=name,
        indptr=part("indptr"),
        indices=part("indices"),
        owners="src" if kind == "csr" else "dst",
        values=values,
    )
    if source.num_nodes != shape[0]:
        raise SourceError(
            f"{name} has offsets for {source.num_nodes} lists, but is {shape[0]} wide"
        )
    return source


def require_square(name: str, shape: tuple[int, ...]) -> None:
    """Raises unless a matrix can be the adjacency matrix of one kind of nodes."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise SourceError(
            f"{name} is a matrix of shape {shown(shape)}; that of a graph is square, with one "
            "row and one column for each node"
        )


def is_sparse(source: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(source))


def open_sparse_edges(matrix: Any, *, weights: bool = False) -> EdgeSource:  # noqa: ANN401
    """Edges of a matrix.

    Args:
        matrix: A matrix or array in CSR, CSC or COO format.
        weights: Whether to take its values for weights.

    Raises:
        SourceError: It is not square, or of another format.
    """
    kind = matrix.format
    name = f"a SciPy {kind.upper()} matrix"
    if kind not in MATRIX_FORMATS:
        raise SourceError(f"{name} is not supported; convert it with matrix.tocsr()")
    used = slice(None)
    if kind != "coo":
        if len(matrix.indptr) == 0:
            raise SourceError(
                f"{name} has no offsets at all; make it anew with matrix.tocoo().tocsr()"
            )
        used = slice(int(matrix.indptr[-1]))  # the arrays may be longer than what is in use

    def part(attribute: str) -> MemoryStream:
        array = getattr(matrix, attribute)
        in_use = array if attribute == "indptr" else array[used]
        return MemoryStream(array=in_use, name=f"{name}, {attribute}")

    values = {"weights": part("data") if weights else None}
    return matrix_edges(name, kind, matrix.shape, part, values)
