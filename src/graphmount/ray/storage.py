"""Files of checkpoints in the storage of a run of Ray: a folder that machines share, or objects.

A folder is named by its place in the training. So when a process is killed before a checkpoint is
reported, the next try writes it under the same name, and nothing is left over.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import sys
from typing import TYPE_CHECKING, Any

import ray.train
from pyarrow import fs  # type: ignore[import-untyped]

from graphmount.torch.ranks.checkpoint_file import (
    damaged,
    failed_write,
    read_checkpoint,
    read_parts,
    write_checkpoint,
    write_parts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class StoredFile:
    """The file of a checkpoint.

    Args:
        system: Where it is.
        folder: The folder of the checkpoint there.
        name: Its name in that folder.

    Attributes:
        path: Where it is, in the words of `system`.
    """

    def __init__(self, system: fs.FileSystem, folder: str, name: str) -> None:
        self._system = system
        self.path = posixpath.join(folder, name)
        self._is_local = isinstance(system, fs.LocalFileSystem)

    def write(self, parts: Mapping[str, Any]) -> None:
        """Writes it, in place of one that is there.

        On a local or mounted file system, it is there as a whole or not at all. Elsewhere a file
        may stay that is not complete, if even removing it fails; it is not reported.

        Raises:
            OSError: It cannot be written, with the path.
        """
        if self._is_local:
            os.makedirs(posixpath.dirname(self.path), exist_ok=True)
            write_checkpoint(self.path, parts)
            return
        outside = sys.exc_info()[1]
        try:
            self._system.create_dir(posixpath.dirname(self.path))
            with self._system.open_output_stream(self.path) as file:
                write_parts(parts, file)
        except Exception as error:
            with contextlib.suppress(Exception):
                self._system.delete_file(self.path)
            raise failed_write(self.path, error, outside) from error

    def read(self) -> dict[str, Any]:
        """What is in it.

        Raises:
            FormatError: It is not there, or is no checkpoint.
            OSError: It cannot be read.
        """
        saved: dict[str, Any] | None = None
        if self._is_local:
            saved = read_checkpoint(self.path)
        else:
            with (
                contextlib.suppress(FileNotFoundError),
                self._system.open_input_file(self.path) as file,
            ):
                saved = read_parts(file, self.path)
        if saved is None:
            raise damaged(
                self.path, "there is no such file in the checkpoint that was reported last"
            )
        return saved


def new_folder(storage: Any, name: str) -> str:  # noqa: ANN401
    """A folder for a checkpoint that has not been reported: a new one, or what a killed try left.

    Args:
        storage: That of the run.
        name: What the folder is called if no checkpoint that was reported is called so.
    """
    folder = posixpath.join(storage.experiment_fs_path, name)
    if storage.storage_filesystem.get_file_info(folder).type == fs.FileType.NotFound:
        return folder
    reported = {
        posixpath.basename(each.checkpoint.path)
        for each in ray.train.get_all_reported_checkpoints(
            consistency_mode=ray.train.CheckpointConsistencyMode.COMMITTED
        )
    }
    number = 1
    found = name
    while found in reported:
        number += 1
        found = f"{name}_{number}"
    return posixpath.join(storage.experiment_fs_path, found)
