"""Edges from `.npz` archives: SciPy's matrices, OGB's datasets, and members picked by name.

In a matrix, A[i, j] is an edge from i to j, and `data` are the weights, if they are asked for. OGB
has an `edge_index` of shape (2, edges). Other archives have two vectors, or one such array, which
`columns` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._sources.arrays.column_edges import ColumnEdges, as_ends
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount._sources.arrays.npz_files import NpzFile
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeSource
    from graphmount._sources.contract.requests import EdgeRequest


def open_npz_edges(path: str, request: EdgeRequest) -> EdgeSource:
    """Edges from an archive.

    Args:
        path: The file.
        request: Its `columns` are the members (sources, destinations), or one member with both; by
            default a SciPy matrix, or `edge_index`. Its `weights` are the name of a member, or True
            for the `data` of a SciPy matrix; its `timestamps` are the name of a member.

    Raises:
        SourceError: The members are not there, or not edges.
    """
    columns: Any = request.columns
    weights: Any = request.weights
    timestamps: Any = request.timestamps
    archive = NpzFile(path)
    if columns is None and "format" in archive and "shape" in archive:
        return _open_matrix(archive, weights, timestamps)
    if weights is True:
        raise SourceError(f"{path} is not a SciPy matrix; name the member: weights='edge_weight'")
    weight_stream = archive.stream(weights) if isinstance(weights, str) else None
    time_stream = None if timestamps is None else archive.stream(timestamps)
    if columns is None and "edge_index" not in archive:
        raise SourceError(
            f"{path} has neither an edge_index nor a SciPy matrix; pass columns=(sources, "
            f"destinations) out of {', '.join(map(repr, archive.names)) or 'none'}"
        )
    names = (columns,) if isinstance(columns, str) else columns or ("edge_index",)
    if not isinstance(names, list | tuple) or len(names) not in (1, 2):
        raise ValueError(f"columns={shown(columns)}; name one member, or (sources, destinations)")
    ends: Stream | tuple[Stream, Stream]
    if len(names) == 1:
        ends = as_ends(archive.stream(names[0]))
    else:
        ends = (archive.stream(names[0]), archive.stream(names[1]))
    return ColumnEdges(
        name=path,
        ends=ends,
        weights=weight_stream,
        timestamps=time_stream,
        num_nodes=_num_nodes(archive),
    )


def _num_nodes(archive: NpzFile) -> int | None:
    """What OGB's archives say: one number in a list, since there is one graph."""
    if "num_nodes_list" not in archive:
        return None
    numbers = archive.counts("num_nodes_list")
    return numbers[0] if len(numbers) == 1 else None


def _open_matrix(
    archive: NpzFile, weights: bool | str | None, timestamps: str | None
) -> EdgeSource:
    words = archive.small("format").ravel()[:2].tolist()
    word = words[0] if len(words) == 1 else None
    kind = word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)
    if kind not in ("csr", "csc", "coo"):
        raise SourceError(
            f"{archive.path} is a SciPy matrix of format {shown(kind)}; save it as CSR, CSC or "
            "COO, with matrix.tocsr()"
        )
    shape = archive.counts("shape")
    require_square(archive.path, shape)
    num_nodes = shape[0]
    data = None
    if weights:
        data = archive.stream("data" if weights is True else weights)
    times = None if timestamps is None else archive.stream(timestamps)
    if kind == "coo":
        return ColumnEdges(
            name=archive.path,
            ends=(archive.stream("row"), archive.stream("col")),
            weights=data,
            timestamps=times,
            num_nodes=num_nodes,
        )
    source = ListEdges(
        name=archive.path,
        indptr=archive.stream("indptr"),
        indices=archive.stream("indices"),
        owners="src" if kind == "csr" else "dst",
        weights=data,
        timestamps=times,
    )
    if source.num_nodes != num_nodes:
        raise SourceError(
            f"{archive.path} has offsets for {source.num_nodes} lists, but is {num_nodes} wide"
        )
    return source


def require_square(name: str, shape: tuple[int, ...]) -> None:
    """Raises unless a matrix can be the adjacency matrix of one kind of nodes."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise SourceError(
            f"{name} is a matrix of shape {shown(shape)}; that of a graph is square, with one "
            "row and one column for each node"
        )
