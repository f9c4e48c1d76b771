"""Edges from arrays on a disk: `.npy` files, and binary files whose shape and dtype are given.

An array of shape (2, edges) has sources in its first row and destinations in its second, as PyG's
`edge_index`; one of shape (edges, 2) has an edge in each row. One of shape (2, 2) could be either,
and is taken for the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._sources.arrays.column_edges import ColumnEdges
from graphmount._sources.arrays.npy_files import open_npy
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from graphmount._sources.arrays.array_stream import ArrayStream


def open_array_edges(
    path: str, *, shape: tuple[int, ...] | None = None, dtype: DTypeLike | None = None
) -> ColumnEdges:
    """Edges from a file that is one array.

    Args:
        path: The file.
        shape: Its shape, if it has no header.
        dtype: Its dtype, if it has no header.

    Raises:
        SourceError: The file is not an array of edges.
    """
    return ColumnEdges(name=path, ends=as_ends(open_npy(path, shape=shape, dtype=dtype)))


def open_pair_edges(src_path: str, dst_path: str) -> ColumnEdges:
    """Edges from two `.npy` files of vectors, where edges begin and where they end.

    Args:
        src_path: The file of the sources.
        dst_path: The file of the destinations.

    Raises:
        SourceError: They are not vectors of integers, or not equally long.
    """
    ends = (open_npy(src_path), open_npy(dst_path))
    return ColumnEdges(name=f"{src_path} and {dst_path}", ends=ends)


def as_ends(stream: ArrayStream) -> ArrayStream:
    """The array as one of shape (edges, 2)."""
    if len(stream.shape) != 2 or 2 not in stream.shape:
        raise SourceError(
            f"{stream.name} has shape {stream.shape}; edges are of shape (2, edges) or (edges, 2)"
        )
    return stream.T if stream.shape[0] == 2 else stream
