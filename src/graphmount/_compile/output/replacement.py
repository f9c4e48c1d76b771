"""Which folder a new dataset may replace, and what is removed then.

Only a folder that is a dataset and holds nothing else is replaced. Only files that its description
names are removed, one by one: other files, put there before or meanwhile, stay.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._sources.graph_files.mounted import FEATURES_MAGIC, GRAPH_MAGIC, NODE_IDS_MAGIC
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.files.temporary_folders import MARK
from graphmount.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAGICS = (GRAPH_MAGIC, FEATURES_MAGIC, NODE_IDS_MAGIC)
_SHOWN = 3


def require_replaceable(path: str, *, overwrite: bool) -> None:
    """Raises unless there is nothing at a place, or a dataset and nothing else.

    Args:
        path: The place.
        overwrite: Whether a dataset may be replaced.

    Raises:
        FileExistsError: Something is in the way; the message names it.
    """
    if not os.path.lexists(path) or is_empty_folder(path):
        return
    if not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    require_dataset(path, shown=path)


def require_dataset(folder: str, *, shown: str) -> None:
    """Raises unless a folder is a dataset and nothing else.

    Args:
        folder: The folder.
        shown: What messages call it.

    Raises:
        FileExistsError: It is not; the message names what is in the way.
    """
    try:
        strangers = list(_strangers(folder))
    except (FileNotFoundError, NotADirectoryError):
        raise FileExistsError(
            f"{shown} has no {DESCRIPTION}, so it is not replaced; remove it first"
        ) from None
    except FormatError as error:
        why = str(error).removesuffix("; compile the dataset again").replace(folder, shown)
        raise FileExistsError(
            f"{shown} is no dataset that this graphmount knows, so it is not replaced ({why}); "
            "remove it first"
        ) from None
    if strangers:
        names = ", ".join(map(repr, strangers[:_SHOWN]))
        more = f" and {len(strangers) - _SHOWN:,} more" if len(strangers) > _SHOWN else ""
        raise FileExistsError(
            f"{shown} is not replaced, since it holds what is no file of a dataset: {names}{more}; "
            "move that away first"
        )


def is_empty_folder(path: str) -> bool:
    """Whether there is a folder at a path, with nothing in it."""
    return os.path.isdir(path) and not os.path.islink(path) and not os.listdir(path)


def is_complete(folder: str) -> bool:
    """Whether a folder is a dataset of which no file is missing."""
    try:
        with OpenedFolder(folder) as opened:
            return all(_starts_as_ours(opened, file) for file in _files_of(opened))
    except (FileNotFoundError, NotADirectoryError, FormatError):
        return False


def remove_dataset(folder: str) -> bool:
    """Removes the files of a dataset, and the folder if nothing else is left in it.

    Args:
        folder: The folder, of which only what its description names is removed.

    Returns:
        Whether the folder is gone.
    """
    try:
        with OpenedFolder(folder) as opened:
            files = _files_of(opened)
            for file in files:
                if _starts_as_ours(opened, file):
                    opened.remove(file)
            for below in sorted(_folders_of(files), reverse=True):  # inner ones first
                opened.remove(below, is_folder=True)
            opened.remove(MARK)
            # The description goes last: without it, the other files could not be recognised.
            if set(os.listdir(folder)) == {DESCRIPTION}:
                opened.remove(DESCRIPTION)
        os.rmdir(folder)
    except FileNotFoundError:  # also of one that was killed when only the folder was left
        with suppress(OSError):
            os.rmdir(folder)
        return not os.path.lexists(folder)
    except (OSError, FormatError):
        return False
    return True


def remove_unnamed(folder: str, files: Iterable[str]) -> None:
    """Removes files that a dataset does not name, and the folders that are then empty.

    Args:
        folder: The dataset; if it is none, nothing is removed.
        files: Files that are, or were to be, of the dataset, by their paths from the folder on.
    """
    with suppress(OSError, FormatError), OpenedFolder(folder) as opened:
        named = _files_of(opened)
        for file in set(files) - named:
            if _starts_as_ours(opened, file):
                opened.remove(file)
            for below in sorted(_folders_of({file}) - _folders_of(named), reverse=True):
                opened.remove(below, is_folder=True)


def _strangers(folder: str) -> Iterator[str]:
    """What is in a folder that is no part of the dataset it describes, by its path from there."""
    with OpenedFolder(folder) as opened:
        files = _files_of(opened)
        folders = _folders_of(files)
        waiting = [""]
        while waiting:
            below = waiting.pop()
            for entry in sorted(os.listdir(os.path.join(folder, below))):
                name = f"{below}{entry}"
                mode = os.lstat(os.path.join(folder, name)).st_mode
                if stat.S_ISDIR(mode) and name in folders:
                    waiting.append(f"{name}/")
                elif name == DESCRIPTION and stat.S_ISREG(mode):
                    continue
                elif name not in files or not _starts_as_ours(opened, name):
                    yield f"{name}/" if stat.S_ISDIR(mode) else name


def _files_of(folder: OpenedFolder) -> set[str]:
    return {file for _, _, file in named_files(read_description(folder))}


def _folders_of(files: set[str]) -> set[str]:
    """The folders that files are in, and those that these are in."""
    return {file[:place] for file in files for place, mark in enumerate(file) if mark == "/"}


def _starts_as_ours(folder: OpenedFolder, file: str) -> bool:
    """Whether there is a regular file that is one of graphmount; or has nothing in it to lose."""
    try:
        with folder.open_file(file) as opened:
            start = opened.read(len(_MAGICS[0]))
    except (FileNotFoundError, NotADirectoryError, PermissionError, FormatError):
        return False  # other errors say nothing about the file
    return not start or start in _MAGICS
