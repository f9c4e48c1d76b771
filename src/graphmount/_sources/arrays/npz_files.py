"""NumPy's `.npz` archives: their members as streams, compressed or not, and edges made of these.

Members are unpacked piece by piece as they are read, so an archive may be larger than memory. Edges
come from a matrix of SciPy, whose `data` are the weights, if they are asked for; from OGB's
`edge_index` of shape (2, edges); or from two vectors, or one such array, which `columns` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrays.array_stream import ArrayStream
from graphmount._sources.arrays.column_edges import ColumnEdges, as_ends
from graphmount._sources.arrays.matrix_edges import MATRIX_FORMATS, matrix_edges
from graphmount._sources.arrays.npy_files import (
    NPY_MAGIC,
    read_any_header,
    read_npy_header,
    require_bytes,
)
from graphmount._sources.arrays.stored_bytes import member_bytes, open_archive, open_member
from graphmount._sources.contract.claims import MOST_NODES, array_bytes
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeSource
    from graphmount._sources.contract.tables import EdgeRequest

#: Members that are read as a whole say how large something is, or of which kind.
_MOST_SMALL_BYTES = 1 << 20
_MOST_COUNTS = 16


class NpzFile:
    """The members of an archive.

    Args:
        path: The file.

    Raises:
        SourceError: It is not an archive.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with open_archive(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
        self.names = tuple(name.removesuffix(".npy") for name in names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def stream(self, name: str) -> ArrayStream:
        """One member as a stream.

        Raises:
            SourceError: There is none of this name, or it is not an array of numbers.
        """
        self.require(name)
        place = f"{self.path}, member {name!r}"
        with open_archive(self.path) as archive:
            with open_member(archive, f"{name}.npy", place) as file:
                if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                    raise SourceError(f"{place} is not an array; save it with numpy.savez")
                file.seek(0)
                shape, dtype, is_fortran = read_npy_header(file, place)
                offset = file.tell()
            there = archive.getinfo(f"{name}.npy").file_size - offset
            stored = member_bytes(archive, self.path, f"{name}.npy", offset)
        require_bytes(place, shape, dtype, there=there)
        return ArrayStream(stored=stored, shape=shape, dtype=dtype, is_fortran=is_fortran)

    def require(self, name: str) -> None:
        """Raises unless there is a member of this name."""
        if name not in self.names:
            raise SourceError(
                f"{self.path} has no member {name!r}; it has "
                f"{', '.join(map(repr, self.names)) or 'none'}"
            )

    def counts(self, name: str) -> tuple[int, ...]:
        """A small member of numbers that count something, such as SciPy's `shape`.

        Raises:
            SourceError: It does not hold such numbers.
        """
        numbers = self.small(name).ravel()
        place = f"{self.path}, member {name!r}"
        if numbers.dtype.kind not in "iu" or len(numbers) > _MOST_COUNTS:
            raise SourceError(
                f"{place} has {len(numbers)} values of {numbers.dtype}, where a few whole numbers "
                "should be; save it again"
            )
        for number in numbers.tolist():
            if not 0 <= number <= MOST_NODES:
                raise SourceError(f"{place}: {number} cannot be a number of nodes; save it again")
        return tuple(numbers.tolist())

    def small(self, name: str) -> Any:  # noqa: ANN401  (an array of any shape, text too)
        """A small member as an array, such as SciPy's `format` and `shape`."""
        self.require(name)
        with open_archive(self.path) as archive:
            place = f"{self.path}, member {name!r}"
            with open_member(archive, f"{name}.npy", place) as file:
                shape, dtype, is_fortran = read_any_header(file, place)
                needed = array_bytes(place, shape, dtype.itemsize)
                if needed > _MOST_SMALL_BYTES:
                    raise SourceError(f"{place}: larger than it should be")
                if dtype.hasobject or dtype.subdtype is not None or dtype.names is not None:
                    raise SourceError(f"{place} holds {dtype}; save it as numbers or text")
                content = file.read(needed)
        if len(content) < needed:
            raise SourceError(f"{place} is cut off: {needed} bytes are needed")
        if dtype.itemsize == 0:
            return np.empty(shape, dtype)
        flat = np.frombuffer(content, dtype)
        return flat.reshape(shape, order="F" if is_fortran else "C")


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
    archive = NpzFile(path)
    is_matrix = columns is None and "format" in archive and "shape" in archive
    weights: Any = "data" if request.weights is True and is_matrix else request.weights
    if weights is True:
        raise SourceError(f"{path} is not a SciPy matrix; name the member: weights='edge_weight'")
    named = {"weights": weights, "timestamps": request.timestamps}
    values = {name: archive.stream(member) for name, member in named.items() if member}
    if is_matrix:
        shape = archive.counts("shape")
        return matrix_edges(path, _matrix_format(archive), shape, archive.stream, values)
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
    return ColumnEdges(name=path, ends=ends, values=values, num_nodes=_num_nodes(archive))


def _num_nodes(archive: NpzFile) -> int | None:
    """What OGB's archives say: one number in a list, since there is one graph."""
    if "num_nodes_list" not in archive:
        return None
    numbers = archive.counts("num_nodes_list")
    return numbers[0] if len(numbers) == 1 else None


def _matrix_format(archive: NpzFile) -> str:
    words = archive.small("format").ravel()[:2].tolist()
    word = words[0] if len(words) == 1 else None
    kind = word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)
    if kind not in MATRIX_FORMATS:
        raise SourceError(
            f"{archive.path} is a SciPy matrix of format {shown(kind)}; save it as CSR, CSC or "
            "COO, with matrix.tocsr()"
        )
    return kind
