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
        SourceError: It is no matrix, or its parts are of another one.
    """
    if len(shape) != 2:
        raise SourceError(f"{name} has shape {shown(shape)}; a matrix has two dimensions")
    if kind == "coo":
        ends = part("row"), part("col")
        columns = ColumnEdges(name=name, ends=ends, values=values, num_nodes=shape[0])
        return of_shape(columns, shape)
    source = ListEdges(
        name=name,
        indptr=part("indptr"),
        indices=part("indices"),
        owners="src" if kind == "csr" else "dst",
        values=values,
    )
    num_lists = shape[0] if kind == "csr" else shape[1]
    if source.num_nodes != num_lists:
        raise SourceError(
            f"{name} has offsets for {source.num_nodes} lists, but is {num_lists} wide"
        )
    return of_shape(source, shape)


def of_shape(source: EdgeSource, shape: tuple[int, ...]) -> EdgeSource:
    """The edges of a matrix, with what its shape says: rows are sources, columns destinations.

    A square matrix has one row and one column for each node. Another one leads from nodes of one
    type to nodes of another.

    Args:
        source: The edges.
        shape: Two numbers.
    """
    source.num_nodes = shape[0] if shape[0] == shape[1] else None
    source.num_ends = None if shape[0] == shape[1] else (shape[0], shape[1])
    return source


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
        SourceError: It is of another format.
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
