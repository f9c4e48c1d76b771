"""Edges of SciPy's sparse matrices in memory: A[i, j] is an edge from i to j.

Every stored entry is an edge, explicit zeros and duplicates too. The arrays of the matrix are read
where they are, batch by batch.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.column_edges import ColumnEdges
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount._sources.arrays.npz_edges import require_square
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.contract.batches import EdgeSource


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
    if kind not in ("csr", "csc", "coo"):
        raise SourceError(f"{name} is not supported; convert it with matrix.tocsr()")
    require_square(name, matrix.shape)
    data = MemoryStream(array=matrix.data, name=f"{name}, data") if weights else None
    if kind == "coo":
        return ColumnEdges(
            name=name,
            ends=(
                MemoryStream(array=matrix.row, name=f"{name}, row"),
                MemoryStream(array=matrix.col, name=f"{name}, col"),
            ),
            weights=data,
            num_nodes=matrix.shape[0],
        )
    # The arrays may be longer than what is in use.
    if len(matrix.indptr) == 0:
        raise SourceError(f"{name} has no offsets at all; make it anew with matrix.tocoo().tocsr()")
    used = slice(int(matrix.indptr[-1]))
    if data is not None:
        data = MemoryStream(array=matrix.data[used], name=data.name)
    return ListEdges(
        name=name,
        indptr=MemoryStream(array=matrix.indptr, name=f"{name}, indptr"),
        indices=MemoryStream(array=matrix.indices[used], name=f"{name}, indices"),
        owners="src" if kind == "csr" else "dst",
        weights=data,
    )
