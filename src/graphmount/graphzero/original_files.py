"""Files that graphzero itself has written: mounted by a copy in graphmount's format beside them.

The copy is made when such a file is first opened, as `name.graphmount.gl` or `.gd`, and opened from
then on. It has the time of the file it was made of, so a file that is replaced gets a new copy. A
warning says that it was made: it takes disk space. Errors are as graphzero has them, a
`RuntimeError` for all that goes wrong with files and nodes, with graphmount's own as its cause.
"""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmount._compile.feature_compiler import compile_features
from graphmount._compile.graph_compiler import compile_graph
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._sources.graph_files.graphzero import FEATURES_MAGIC, GRAPH_MAGIC
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import GraphmountError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def as_runtime_errors() -> Iterator[None]:
    """Raises graphmount's errors, and those of the system, as a `RuntimeError`."""
    try:
        yield
    except (GraphmountError, OSError) as error:
        raise RuntimeError(str(error)) from error


def mount_graph(filename: str | os.PathLike[str]) -> Graph:
    """Mounts a graph of graphmount, or one of graphzero."""
    return Graph(_own_file(filename, GRAPH_MAGIC, ".gl", _compile_graph))


def mount_features(filename: str | os.PathLike[str]) -> FeatureStore:
    """Mounts features of graphmount, or those of graphzero."""
    return FeatureStore(_own_file(filename, FEATURES_MAGIC, ".gd", _compile_features))


def _compile_graph(original: str, copy: str) -> None:
    compile_graph(original, copy, neighbors="out")  # which is all that the original has


def _compile_features(original: str, copy: str) -> None:
    compile_features(original, copy)


def _own_file(
    filename: str | os.PathLike[str], magic: bytes, ending: str, write: Callable[[str, str], None]
) -> str:
    """The file to mount: the one that is named, or the copy of one of graphzero."""
    path = os.path.abspath(os.fsdecode(filename))
    with open_regular(path) as file:
        if file.read(len(magic)) != magic:
            return path
        time = os.fstat(file.fileno()).st_mtime_ns
    copy = f"{path.removesuffix(ending)}.graphmount{ending}"
    if os.path.exists(copy) and os.stat(copy).st_mtime_ns == time:
        return copy
    try:
        write(path, copy)
        os.utime(copy, ns=(time, time))
    except PermissionError as error:
        raise PermissionError(
            f"{path} is a file of graphzero, and a copy in graphmount's format cannot be written "
            f"beside it ({error}); write one elsewhere with graphmount.compile_"
            f"{'graph' if ending == '.gl' else 'features'}, and open that"
        ) from error
    warnings.warn(
        f"{path} is a file of graphzero; a copy in graphmount's format was written to {copy}, and "
        "will be used from now on",
        stacklevel=4,  # the caller that opened it
    )
    return copy
