"""Files of GraphZero 0.2: its graphs (`.gl`) and its features (`.gd`).

The layout, all little-endian. A graph: 8 bytes "graphlit"; then uint64 fields: bytes of the
offsets, bytes of the neighbors, where the offsets begin, where the neighbors begin, nodes, list
entries; at byte 56 one byte that is 1 if there are weights. Offsets and neighbors are uint64. Each
part begins at a multiple of 64; weights, float32, follow the neighbors. Lists are of outgoing
edges. Whether a graph was made undirected is not recorded: its edges are then in the lists of both
ends, and are read as two edges.

Features: 8 bytes "GZDATA26", uint32 flags, int32 dtype (int32, int64, float32, float64), uint64
rows, uint64 columns, and from byte 32 on the rows.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from graphmount._sources.arrays.array_stream import file_stream
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._sources.arrays.stream_rows import StreamRows
from graphmount._sources.contract.claims import array_bytes
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.arrays.array_stream import ArrayStream
    from graphmount._sources.contract.batches import EdgeSource

GRAPH_MAGIC = b"graphlit"
FEATURES_MAGIC = b"GZDATA26"

_GRAPH_HEADER = "<8s6QB7x"
_FEATURES_HEADER = "<8sIiQQ"
_DTYPES = ("<i4", "<i8", "<f4", "<f8")


def open_graphzero_edges(path: str, *, weights: bool | None = None) -> EdgeSource:
    """Edges of a GraphZero graph.

    Args:
        path: The file.
        weights: Whether to read weights; by default if there are any.

    Raises:
        SourceError: The file is damaged, or has no weights.
    """
    (_, offset_bytes, neighbor_bytes, offsets, neighbors, num_nodes, num_edges, has_weights) = (
        _read_header(path, _GRAPH_HEADER)
    )
    weights_begin = -(-(neighbors + neighbor_bytes) // 64) * 64
    end = weights_begin + 4 * num_edges if has_weights else neighbors + neighbor_bytes
    if (
        offset_bytes != 8 * (num_nodes + 1)
        or neighbor_bytes != 8 * num_edges
        or offsets + offset_bytes > neighbors
        or file_size(path) < end
    ):
        raise SourceError(
            f"{path} is a GraphZero graph of {num_nodes} nodes and {num_edges} edges by its "
            f"header, which does not fit its {file_size(path)} bytes: it is damaged, or of another "
            "version than 0.2"
        )
    if weights and not has_weights:
        raise SourceError(f"{path} is a GraphZero graph without weights")
    values = {}
    if has_weights and weights is not False:
        values["weights"] = _stream(path, "weights", weights_begin, "<f4", (num_edges,))
    return ListEdges(
        name=path,
        indptr=_stream(path, "offsets", offsets, "<u8", (num_nodes + 1,)),
        indices=_stream(path, "neighbors", neighbors, "<u8", (num_edges,)),
        owners="src",
        values=values,
    )


def open_graphzero_rows(path: str) -> StreamRows:
    """Rows of a GraphZero feature file.

    Args:
        path: The file.

    Raises:
        SourceError: The file is damaged.
    """
    _, _, code, num_rows, num_columns = _read_header(path, _FEATURES_HEADER)
    if not 0 <= code < len(_DTYPES):
        raise SourceError(f"{path} is a GraphZero file of an unknown dtype ({code})")
    shape = (num_rows, num_columns)
    needed = 32 + array_bytes(path, shape, np.dtype(_DTYPES[code]).itemsize)
    if file_size(path) < needed:
        raise SourceError(
            f"{path} is a GraphZero file of {num_rows} x {num_columns} values by its header, which "
            f"take {needed} bytes, but it has {file_size(path)}: it is cut off"
        )
    return StreamRows(_stream(path, "", 32, _DTYPES[code], shape), name=path)


def _read_header(path: str, fields: str) -> tuple[int, ...]:
    size = struct.calcsize(fields)
    with open_regular(path) as file:
        header = file.read(size)
    if len(header) < size:
        raise SourceError(f"{path} is cut off within its GraphZero header")
    return struct.unpack(fields, header)


def _stream(path: str, part: str, offset: int, dtype: str, shape: tuple[int, ...]) -> ArrayStream:
    name = f"{path}, {part}" if part else path
    return file_stream(path, offset, shape, np.dtype(dtype), name=name)
