"""Whether an output would replace one of its own sources, under any name.

Files are compared by device and inode, not by name: links, descriptors and all paths of a file are
one file. A handle counts as the file that it has open, and an array in a mapped file as that file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphmount._mount.handle import Handle
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.paths import expand, is_paths
from graphmount.errors import ClosedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What identifies a file: its device and its inode.
_Identity: TypeAlias = tuple[int, int]

#: How many arrays a source is made of, at the most.
_MOST_PARTS = 16
#: Where matrices, graphs in memory and open sources keep their arrays.
_PARTS = ("data", "indices", "indptr", "row", "col", "edge_index", "edge_weight", "edge_attr")


def refuse_own_sources(path: str, *sources: object) -> None:
    """Raises if the file at a path is one of the sources.

    Args:
        path: The file that is to be replaced, if there is one.
        sources: Paths, handles, arrays, tables, lists and mappings of these. Other things have no
            file.

    Raises:
        ValueError: The message names the file, and the source if it has another name.
    """
    found = _identity(path)
    if found is not None:
        _refuse({found}, path, sources)


def refuse_sources_inside(folders: Iterable[str], out: str, *sources: object) -> None:
    """Raises if one of the sources is a file in one of the folders, which will be removed.

    Args:
        folders: These, as far as they are there.
        out: What messages call them.
        sources: See `refuse_own_sources`.

    Raises:
        ValueError: The message names the file.
    """
    inside = {
        identity
        for top in folders
        for folder, _, files in os.walk(top)
        for file in files
        if (identity := _identity(os.path.join(folder, file))) is not None
    }
    if inside:
        _refuse(inside, out, sources)


def _refuse(taken: set[_Identity], out: str, sources: tuple[object, ...]) -> None:
    for name, identity in (found for source in sources for found in _files_of(source)):
        if identity in taken:
            same = "" if name == out else f" ({name})"
            raise ValueError(
                f"{out} would replace one of its own sources{same}; choose another name for what "
                "is written"
            )


def side_file(value: object) -> object:
    """Values given next to a source, if they have a file: an array, or a path (not a column name).

    Args:
        value: An array, a path; or names, numbers, columns, which have none.
    """
    if isinstance(value, str):
        return value if value.endswith(".npy") else None
    return value if isinstance(value, os.PathLike) or _address(value) is not None else None


def side_splits(splits: object) -> list[object]:
    """The splits that may have a file: lists are ids, which may look like paths.

    Args:
        splits: What was given as splits, whether it makes sense or not.
    """
    if isinstance(splits, Table):
        return [splits]
    given = splits.values() if isinstance(splits, Mapping) else ()
    return [split for split in given if not isinstance(split, list | tuple)]


def _files_of(source: Any) -> Iterator[tuple[str, _Identity]]:  # noqa: ANN401
    """The files of a source, as far as it has any: their names, and what they are."""
    if isinstance(source, Handle):
        yield from _mounted_file(source)
    elif (address := _address(source)) is not None:
        yield from _mapped_files(address)
    elif is_paths(source):
        for path in source if isinstance(source, list | tuple) else [source]:
            yield from _files_at(path)
    else:
        for part in _parts_of(source):
            yield from _files_of(part)


def _parts_of(source: Any) -> Iterator[object]:  # noqa: ANN401
    """What a source is made of, as far as it may have files."""
    if isinstance(source, Table | EdgeTable):
        yield source.source
        for name in ("key", "weights", "timestamps"):
            yield side_file(getattr(source, name, None))
    elif isinstance(source, Mapping):
        yield from source.values()
    elif isinstance(source, np.ndarray):
        return  # it has an address, or no items; NumPy cannot show the data of some dtypes
    elif isinstance(source, list | tuple):
        # Such as a pair of arrays. A longer one is of numbers or names.
        parts = source if len(source) <= _MOST_PARTS else ()
        yield from (part for part in parts if isinstance(part, Handle) or _address(part))
    elif source is not None:
        if hasattr(source, "batches"):  # a source that is open already
            yield getattr(source, "name", None)
        arrays = (getattr(source, attribute, None) for attribute in _PARTS)
        yield from (array for array in arrays if _address(array) is not None)


def _files_at(source: object) -> Iterator[tuple[str, _Identity]]:
    try:
        paths = expand(source)
    except (OSError, SourceError):
        return  # opening it says what is wrong
    for path in paths:
        if (identity := _identity(path)) is not None:
            yield path, identity


def _mounted_file(handle: Handle[Any]) -> Iterator[tuple[str, _Identity]]:
    try:
        descriptor = handle._open().open_descriptor()  # noqa: SLF001  (part of the package)
    except ClosedError:
        return  # using it raises the error
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    yield handle.path, (status.st_dev, status.st_ino)


def _address(source: Any) -> int | None:  # noqa: ANN401
    """Where the numbers of an array or tensor lie in memory; None if it is neither."""
    if isinstance(source, np.ndarray):
        return int(source.ctypes.data) if source.size else None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(source, torch.Tensor):
        is_plain = source.layout == torch.strided and source.device.type == "cpu"
        return int(source.data_ptr()) if is_plain and source.numel() else None
    return None


def _mapped_files(address: int) -> Iterator[tuple[str, _Identity]]:
    """The file that is mapped at an address, where the system tells (Linux)."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            for line in maps:
                begin, _, end = line.partition(b" ")[0].partition(b"-")
                if int(begin, 16) <= address < int(end, 16):
                    yield from _file_of_mapping(line.rstrip(b"\n").split(maxsplit=5))
                    return
    except OSError:
        return  # another system


def _file_of_mapping(fields: list[bytes]) -> Iterator[tuple[str, _Identity]]:
    """Addresses, permissions, offset, device, number and, if it is one of a file, path."""
    if len(fields) < 6:
        return
    path = os.fsdecode(fields[5])
    major, _, minor = fields[3].partition(b":")
    yield path, (os.makedev(int(major, 16), int(minor, 16)), int(fields[4]))
    # Some file systems have another number for their device here than elsewhere.
    if (identity := _identity(path)) is not None:
        yield path, identity


def _identity(path: str) -> _Identity | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
