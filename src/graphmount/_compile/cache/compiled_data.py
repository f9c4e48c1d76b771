"""A `Data` of PyG as a dataset: compiled into the cache the first time it is seen.

If several processes need the same dataset, one compiles and the others wait. An entry of the cache
is used only if it opens as a dataset that was made from the same content.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from graphmount._compile.cache.content_key import hetero_key_of, key_of
from graphmount._compile.cache.folder import CacheFolder
from graphmount._compile.pyg.from_hetero import compile_hetero_parts
from graphmount._compile.pyg.from_pyg import compile_parts
from graphmount._dataset.dataset import Dataset
from graphmount._sources.objects.pyg_data import HeteroParts
from graphmount._support.files.lock_file import LockFile
from graphmount._support.progress import say
from graphmount._support.sizes import format_bytes
from graphmount.errors import DatasetChangedError, FormatError, OrderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._sources.objects.pyg_data import DataParts
    from graphmount._support.progress import ProgressOption

_NO_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
#: What an edge and a node take in the file of a graph, about, with both directions.
_EDGE_BYTES, _VALUE_BYTES, _NODE_BYTES = 16, 12, 48


def open_compiled(
    parts: DataParts | HeteroParts,
    *,
    weights: str | None,
    timestamps: str | None,
    folder: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> tuple[Any, LockFile]:
    """The `Dataset` of a `Data`, or the `TypedDataset` of a `HeteroData`, and its lock.

    It is compiled if it is not in the cache. The lock keeps it there.

    Args:
        parts: The parts of the `Data` or `HeteroData`.
        weights: The attribute of edges that is also compiled as weights, or None.
        timestamps: The attribute of edges, or of nodes of a `HeteroData`, that is also compiled as
            times, or None.
        folder: The folder of the cache; the default one if None.
        progress: The `progress` of `compile_dataset`; False also leaves out the line about it.

    Raises:
        BudgetError: It takes more than the cache may have.
        FileExistsError: Something else is in its place.
        OSError: The cache cannot be written to, or its disk is full.
        SourceError: The `Data` is wrong.
    """
    attributes = {"weights": weights, "timestamps": timestamps}
    compile_into: Callable[..., CompiledDataset]
    if isinstance(parts, HeteroParts):
        kind, key = "HeteroData", hetero_key_of(parts, **attributes)
        compile_into = partial(compile_hetero_parts, parts, for_loaders=True)
    else:
        kind, key = "Data", key_of(parts, **attributes)
        edge_tables = list(parts.edges)
        compile_into = partial(compile_parts, parts, edge_tables=edge_tables, splits={})
    note = f"compiled of a {kind} of PyG with the content {key}"
    cache, name = CacheFolder(folder), f"pyg-{key}"
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
                cache.make_room(_expected_bytes(parts))
                done = compile_into(
                    path, **attributes, overwrite=True, notes=[note], progress=progress
                )
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


def _expected_bytes(parts: DataParts | HeteroParts) -> int:
    if isinstance(parts, HeteroParts):
        both = (*parts.nodes.values(), *parts.edges.values())
        tables = [rows for part in both for rows in part.rows.values()]
        num_edges = sum(part.count for part in parts.edges.values())
        num_nodes = sum(part.count for part in parts.nodes.values())
    else:
        tables = [*parts.nodes.values(), *parts.edges.values()]
        num_edges = 0 if parts.edge_index is None else int(parts.edge_index.shape[1])
        num_nodes = parts.num_nodes
    graph_bytes = (_EDGE_BYTES + _VALUE_BYTES) * num_edges + _NODE_BYTES * num_nodes
    return graph_bytes + sum(int(rows.nbytes) for rows in tables)


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
