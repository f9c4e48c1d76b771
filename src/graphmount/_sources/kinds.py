"""Which kind of file it is: by its first bytes, then by its name.

A wrong extension does no harm if a format has a signature. Only files without one, which are text
and arrays without a header, are recognised by their name.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from graphmount._sources.arrays.npy_files import NPY_MAGIC
from graphmount._sources.graph_files import graphzero, mounted
from graphmount._sources.text.compression import find_compression, unpack
from graphmount._sources.text.matrix_market import MTX_MAGIC
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.text.decoders import Compression

Kind = Literal[
    "npy",
    "npz",
    "parquet",
    "arrow",
    "arrow stream",
    "orc",
    "matrix market",
    "graphzero graph",
    "graphzero features",
    "graph",
    "features",
    "text",
    "binary",
]

#: Those that are read by pyarrow.
TABLE_KINDS = ("parquet", "arrow", "arrow stream", "orc")

#: For messages.
SUPPORTED = (
    ".npy and .npz (NumPy, SciPy, OGB), .parquet, .arrow and .feather, .orc, .mtx, text (.csv, "
    ".tsv, .txt, .edges, also with .gz, .bz2, .xz, .zst), headerless binary files with shape= and "
    "dtype=, .gl and .gd of graphmount and GraphZero"
)

_MAGICS: tuple[tuple[bytes, Kind], ...] = (
    (NPY_MAGIC, "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PK\x05\x06", "npz"),  # an archive of nothing
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow stream"),
    (b"ORC", "orc"),
    (MTX_MAGIC, "matrix market"),
    (graphzero.GRAPH_MAGIC, "graphzero graph"),
    (graphzero.FEATURES_MAGIC, "graphzero features"),
    (mounted.GRAPH_MAGIC, "graph"),
    (mounted.FEATURES_MAGIC, "features"),
)

#: What is recognised, only to say what to do about it.
_STRANGERS = (
    (b"FEA1", "a Feather file of version 1; write it again with a newer pyarrow"),
    (b"PARE", "an encrypted Parquet file; write it again without encryption"),
    (b"\x80\x02", "a Python pickle, which is never loaded; save its arrays with numpy.save"),
    (b"\x80\x04", "a Python pickle, which is never loaded; save its arrays with numpy.save"),
    (b"\x80\x05", "a Python pickle, which is never loaded; save its arrays with numpy.save"),
    (b"\x89HDF", "an HDF5 file; save its arrays with numpy.save, or write it to Parquet"),
    (b"SQLite format 3", "an SQLite database; write the table to Parquet or CSV"),
)

_ARRAY_EXTENSIONS = (".npy", ".bin", ".raw", ".dat")
#: Such files are text, damaged, or in another encoding; the reader of text says which.
_TEXT_EXTENSIONS = (".csv", ".tsv", ".txt", ".edges")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def kind_of(path: str, *, is_headerless: bool = False) -> Kind:
    """The kind of a file.

    Args:
        path: The file.
        is_headerless: Whether its shape and dtype are known; then what has no signature is binary.

    Raises:
        SourceError: The file is of no kind that is supported; the message lists them.
        OSError: The file cannot be read.
    """
    with open_regular(path) as file:
        start = file.read(512)
    compression = None if is_headerless else find_compression(start)
    if compression is not None:
        return _kind_of_packed(path, compression)
    for magic, kind in _MAGICS:
        if start.startswith(magic) or (
            kind == "matrix market" and start.lower().startswith(magic.lower())
        ):
            # Four bytes of ones also begin arrays of -1; a stream goes on with a length.
            if kind == "arrow stream" and (is_headerless or len(start) < 8):
                continue
            return kind
    if is_headerless:
        return "binary"
    for magic, description in _STRANGERS:
        if start.startswith(magic):
            raise SourceError(f"{path} is {description}")
    # Names count where bytes say nothing: an array of small integers may look like text.
    extension = os.path.splitext(path)[1].lower()
    if extension in _ARRAY_EXTENSIONS:
        return "binary"
    if not (is_text_like(start) or extension in _TEXT_EXTENSIONS or start.startswith(_UTF16_MARKS)):
        raise SourceError(f"{path} is of no kind that is known; supported are {SUPPORTED}")
    return "text"


def _kind_of_packed(path: str, compression: Compression) -> Kind:
    start = b""
    for content, _ in unpack(path, compression):
        start += content[:512]
        if len(start) >= 512:
            break
    if start.lower().startswith(MTX_MAGIC.lower()):
        if compression == "gzip":
            return "matrix market"
        raise SourceError(
            f"{path} is a Matrix Market file compressed with {compression}; unpack it, or compress "
            "it with gzip"
        )
    if is_text_like(start) or start.startswith(_UTF16_MARKS):
        return "text"
    raise SourceError(
        f"{path} is compressed with {compression} and holds neither text nor a Matrix Market file; "
        "unpack it"
    )


def is_text_like(start: bytes) -> bool:
    """Whether a file that begins like this can be text: it has no control characters."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in start)
