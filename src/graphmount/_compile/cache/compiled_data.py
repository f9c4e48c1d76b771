"""A `Data` of PyG as a dataset: compiled into the cache the first time it is seen.

If several processes need the same dataset, one compiles and the others wait. An entry of the cache
is used only if it opens as a dataset that was made from the same content.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphmount._compile.cache.content_key import hetero_key_of, key_of
from graphmount._compile.cache.folder import CacheFolder
from graphmount._compile.pyg.from_hetero import compile_hetero_parts
from graphmount._compile.pyg.from_pyg import compile_parts
from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._support.files.lock_file import LockFile
from graphmount._support.progress import say
from graphmount._support.sizes import format_bytes
from graphmount.errors import DatasetChangedError, FormatError, OrderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._sources.objects.pyg_data import DataParts, HeteroParts
    from graphmount._support.progress import ProgressOption

_NO_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
#: What an edge and a node take in the file of a graph, about, with both directions.
_EDGE_BYTES, _VALUE_BYTES, _NODE_BYTES = 16, 12, 48


def open_compiled(
    parts: DataParts,
    *,
    weights: str | None,
    timestamps: str | None,
    folder: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> tuple[Dataset, LockFile]:
    """The dataset of a `Data`, and the lock that keeps it in the cache.

    Args:
        parts: The parts of the `Data`.
        weights: The attribute that is also compiled as weights, or None.
        timestamps: The attribute that is also compiled as times, or None.
        folder: The folder of the cache; the default one if None.
        progress: The `progress` of `compile_dataset`; False also leaves out the line about it.

    Raises:
        BudgetError: It takes more than the cache may have.
        FileExistsError: Something else is in its place.
        OSError: The cache cannot be written to, or its disk is full.
        SourceError: The `Data` is wrong.
    """
    key = key_of(parts, weights=weights, timestamps=timestamps)
    dataset, lock = _open_or_compile(
        f"pyg-{key}",
        f"compiled of a Data of PyG with the content {key}",
        _expected_bytes(parts),
        lambda path, notes: compile_parts(
            parts,
            path,
            weights=weights,
            timestamps=timestamps,
            edge_tables=list(parts.edges),
            splits={},
            overwrite=True,
            notes=notes,
            progress=progress,
        ),
        folder=folder,
        progress=progress,
    )
    assert isinstance(dataset, Dataset)  # noqa: S101  (compiled so)
    return dataset, lock


def open_compiled_hetero(
    parts: HeteroParts,
    *,
    weights: str | None,
    timestamps: str | None,
    folder: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> tuple[TypedDataset, LockFile]:
    """The dataset of a `HeteroData`, and the lock that keeps it in the cache.

    Args:
        parts: The parts of the `HeteroData`.
        weights: The attribute of edges that is also compiled as weights, or None.
        timestamps: The attribute of edges or nodes that is also compiled as times, or None.
        folder: The folder of the cache; the default one if None.
        progress: The `progress` of `compile_dataset`; False also leaves out the line about it.

    Raises:
        BudgetError: It takes more than the cache may have.
        FileExistsError: Something else is in its place.
        OSError: The cache cannot be written to, or its disk is full.
        SourceError: The `HeteroData` is wrong.
    """
    key = hetero_key_of(parts, weights=weights, timestamps=timestamps)
    both = (*parts.nodes.values(), *parts.edges.values())
    tables = [rows for part in both for rows in part.rows.values()]
    num_edges = sum(part.count for part in parts.edges.values())
    num_nodes = sum(part.count for part in parts.nodes.values())
    dataset, lock = _open_or_compile(
        f"pyg-{key}",
        f"compiled of a HeteroData of PyG with the content {key}",
        _graph_bytes(num_edges, num_nodes) + _table_bytes(tables),
        lambda path, notes: compile_hetero_parts(
            parts,
            path,
            weights=weights,
            timestamps=timestamps,
            for_loaders=True,
            overwrite=True,
            notes=notes,
            progress=progress,
        ),
        folder=folder,
        progress=progress,
    )
    assert isinstance(dataset, TypedDataset)  # noqa: S101  (compiled so)
    return dataset, lock


def _open_or_compile(
    name: str,
    note: str,
    expected_bytes: int,
    compile_into: Callable[[str, list[str]], CompiledDataset],
    *,
    folder: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> tuple[Dataset | TypedDataset, LockFile]:
    """An entry of the cache, which is compiled if it is not there."""
    cache = CacheFolder(folder)
    path = cache.path_of(name)
    with _advice(cache.path):
        try:
            os.makedirs(cache.path, mode=0o700, exist_ok=True)
            change = cache.change(name, waits=False)
        except OSError as error:
            if error.errno not in _NO_WRITING or (dataset := _opened(path, note)) is None:
                raise
            return dataset, LockFile(path, None)  # a read-only cache needs no lock
        if change is None:
            say(f"waiting for another process that compiles {path}", progress)
            change = cache.change(name)
        try:
            if (dataset := _opened(path, note)) is None:
                cache.make_room(expected_bytes)
                done = compile_into(path, [note])
                size, seconds = format_bytes(done.file_bytes), f"{done.seconds:.1f} s"
                say(
                    f"compiled this Data into {path} ({size}, {seconds}); later loaders of the "
                    "same content open it there",
                    progress,
                )
                dataset = Dataset(path)
            return dataset, cache.use(name) or LockFile(path, None)
        finally:
            if change is not None:
                change.close()


def _opened(path: str, note: str) -> Dataset | TypedDataset | None:
    """The dataset at a place, if it is there, whole, and made of the same content.

    Raises:
        FileExistsError: It is a dataset, and another one.
    """
    try:
        dataset: Dataset | TypedDataset = Dataset(path)
    except (FileNotFoundError, FormatError, OrderError, DatasetChangedError):
        return None  # compiling says whether it can be replaced
    if note not in dataset.description.get("notes", ()):
        raise FileExistsError(
            errno.EEXIST, "this is a dataset that the cache did not make; move it away", path
        )
    return dataset


def _expected_bytes(parts: DataParts) -> int:
    tables = [*parts.nodes.values(), *parts.edges.values()]
    num_edges = 0 if parts.edge_index is None else int(parts.edge_index.shape[1])
    return _graph_bytes(num_edges, parts.num_nodes) + _table_bytes(tables)


def _graph_bytes(num_edges: int, num_nodes: int) -> int:
    return (_EDGE_BYTES + _VALUE_BYTES) * num_edges + _NODE_BYTES * num_nodes


def _table_bytes(tables: list[Any]) -> int:
    return sum(int(rows.nbytes) for rows in tables)


@contextmanager
def _advice(folder: str) -> Iterator[None]:
    """Errors of the disk, with what to do about a cache."""
    try:
        yield
    except OSError as error:
        other = "set GRAPHMOUNT_CACHE to a folder on another disk, or pass cache="
        if error.errno in _NO_WRITING:
            message = f"{os.strerror(error.errno)}: nothing can be written into the cache; {other}"
        elif error.errno in _NO_ROOM:
            message = (
                f"{os.strerror(error.errno)}: there is no room for this Data in the cache; "
                f"`graphmount cache clear` empties it, or {other}"
            )
        elif error.errno in _NO_LOCKS:
            message = f"{os.strerror(error.errno)}: the cache needs locks; {other}"
        else:
            raise
        raise OSError(error.errno, message, folder) from error
