"""Where the outputs of inference go: to one file, or to a folder with a file for each type.

Files get their names when all of them are complete, one after the other. Each is whole, or not
there.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._compile.output.path import output_path, temporary_place
from graphmount._support.files.temporary_folders import temporary_folder
from graphmount.torch.inference.kinds import ONE_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_PREFIX = ".layerwise-"


@dataclass(frozen=True)
class Places:
    """Paths of files.

    Attributes:
        inner: A folder for the outputs of inner layers.
        written: For each type, the path under which its outputs are written.
        final: For each type, the path that they get in the end.
    """

    inner: str
    written: Mapping[str, str]
    final: Mapping[str, str]

    def publish(self, types: Iterable[str]) -> None:
        """Gives the complete outputs of these types their names."""
        for name in types:
            if self.written[name] != self.final[name]:
                os.replace(self.written[name], self.final[name])
        for folder in {os.path.dirname(self.final[name]) for name in types}:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


@contextmanager
def one_file(
    out: str | os.PathLike[str], tmp: str | os.PathLike[str] | None, sources: Sequence[object]
) -> Iterator[Places]:
    """Yields the place of the outputs of one kind; temporary files are removed in the end.

    Args:
        out: The file as it was given.
        tmp: The folder for temporary files as it was given.
        sources: All that will be read on the way.

    Raises:
        ValueError: It is the file of one of the sources.
        OSError: No file can be written there.
    """
    path = output_path(out, *sources)
    with temporary_folder(temporary_place(tmp, path), prefix=_PREFIX) as inner:
        yield Places(inner, {ONE_TYPE: path}, {ONE_TYPE: path})


@contextmanager
def one_folder(
    out: str | os.PathLike[str],
    tmp: str | os.PathLike[str] | None,
    types: Iterable[str],
    sources: Sequence[object],
) -> Iterator[Places]:
    """Yields the places of the outputs of many types; temporary files are removed in the end.

    Args:
        out: The folder as it was given. It is made if it is not there, and stays if a file is in
            it.
        tmp: The folder for temporary files as it was given.
        types: The types that may get a file.
        sources: All that will be read on the way.

    Raises:
        ValueError: A file would replace one of the sources.
        NotADirectoryError: There is a file in the place of the folder.
        OSError: No files can be written there.
    """
    folder = os.path.realpath(os.fsdecode(out))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(
            f"out={folder!r} is a file; of many types, there is a file for each, so give a folder"
        )
    with ExitStack() as stack:
        if not os.path.isdir(folder):
            _make(folder)
            stack.callback(_remove_if_empty, folder, os.getpid())
        final = {name: os.path.join(folder, f"{name}.gd") for name in types}
        for path in final.values():
            output_path(path, *sources)
        place = temporary_place(tmp, os.path.join(folder, "any"))
        inner = stack.enter_context(temporary_folder(place, prefix=_PREFIX))
        beside = stack.enter_context(temporary_folder(folder, prefix=_PREFIX))
        written = {name: os.path.join(beside, f"{name}.gd") for name in final}
        yield Places(inner, written, final)


def _make(folder: str) -> None:
    try:
        os.mkdir(folder)
    except FileNotFoundError:
        parent, name = os.path.split(folder)
        message = f"No such folder to put {name} into"
        raise FileNotFoundError(errno.ENOENT, message, parent) from None


def _remove_if_empty(folder: str, process: int) -> None:
    if os.getpid() == process:
        with suppress(OSError):
            os.rmdir(folder)
