"""The key of a `Data`: a hash of everything that is compiled, and of nothing else.

Two objects with the same edges, tables, weights and times have the same key, in any process. Masks
are not part of it. Large arrays are hashed in pieces, by several threads.
"""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._support.num_threads import num_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.objects.pyg_data import DataParts, HeteroParts

#: Of what is compiled, and how: it goes up when that changes.
_VERSION = 1
_PIECE_BYTES = 64 << 20
_DIGEST_BYTES = 20


def key_of(parts: DataParts, *, weights: str | None, timestamps: str | None) -> str:
    """The key, in hexadecimal digits.

    Args:
        parts: The parts of the `Data`.
        weights: The attribute that is compiled as weights, or None.
        timestamps: The attribute that is compiled as times, or None.
    """
    facts = (_VERSION, parts.num_nodes, parts.edge_index is None, weights, timestamps)
    arrays = {("edge_index", ""): parts.edge_index} if parts.edge_index is not None else {}
    arrays |= {("nodes", name): rows for name, rows in parts.nodes.items()}
    arrays |= {("edges", name): rows for name, rows in parts.edges.items()}
    arrays |= {("times", ""): parts.times} if parts.times is not None else {}
    return _key(facts, arrays)


def hetero_key_of(parts: HeteroParts, *, weights: str | None, timestamps: str | None) -> str:
    """The key of the parts of a `HeteroData`, which includes the order of types and relations.

    Args:
        parts: The parts of the `HeteroData`.
        weights: The attribute that is compiled as weights, or None.
        timestamps: The attribute that is compiled as times, or None.
    """
    counts = [(name, part.count) for name, part in parts.nodes.items()]
    facts = (_VERSION, counts, list(parts.edges), weights, timestamps)
    arrays: dict[Any, Any] = {}
    for name, part in parts.nodes.items():
        arrays |= {(name, "", "", key): rows for key, rows in part.rows.items()}
    for relation, part in parts.edges.items():
        arrays[*relation, ""] = part.edge_index
        arrays |= {(*relation, key): rows for key, rows in part.rows.items()}
    return _key(facts, arrays)


def _key(facts: tuple[Any, ...], arrays: dict[Any, Any]) -> str:
    """The hash of these facts, and of arrays by their names."""
    whole = _hash()
    whole.update(repr(facts).encode())
    ordered = sorted(arrays.items(), key=lambda item: item[0])
    for what, rows in ordered:
        whole.update(repr((what, str(rows.dtype), tuple(rows.shape))).encode())
    for digest in _digests([piece for _, rows in ordered for piece in _pieces(rows)]):
        whole.update(digest)
    key: str = whole.hexdigest()
    return key


def _hash() -> Any:  # noqa: ANN401
    return hashlib.blake2b(digest_size=_DIGEST_BYTES)


def _pieces(rows: Any) -> Iterator[Any]:  # noqa: ANN401
    """Rows in pieces of about the same size; those of a matrix that is not in one piece, too."""
    step = max(1, _PIECE_BYTES // max(1, _row_bytes(rows)))
    if rows.ndim == 2 and rows.shape[0] == 2:  # edge_index: two long rows
        for row in rows:
            yield from _pieces(row)
        return
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def _row_bytes(rows: Any) -> int:  # noqa: ANN401
    return int(math.prod(rows.shape[1:]) * rows.dtype.itemsize)


def _digests(pieces: list[Any]) -> list[bytes]:
    """The digests of all pieces; each thread takes the next piece."""
    try:
        with ThreadPoolExecutor(num_threads(), thread_name_prefix="graphmount-hash") as pool:
            return list(pool.map(_digest, pieces))
    except RuntimeError:  # the system gives no more threads: it takes longer
        return [_digest(piece) for piece in pieces]


def _digest(piece: Any) -> bytes:  # noqa: ANN401
    """Of the bytes of some rows, which may be a tensor or an array."""
    piece = piece.contiguous() if hasattr(piece, "contiguous") else np.ascontiguousarray(piece)
    some = _hash()
    some.update(_bytes_of(piece))
    digest: bytes = some.digest()
    return digest


def _bytes_of(piece: Any) -> Any:  # noqa: ANN401
    if isinstance(piece, np.ndarray):
        return piece.reshape(-1).view(np.uint8)
    from torch import uint8  # it is a tensor, so torch is there

    return piece.reshape(-1).view(uint8).numpy()
