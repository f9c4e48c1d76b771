"""Checking the whole folder of a dataset: every file by itself, and that they belong together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount import _core
from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.opening import changed, check_split_ids, is_split, mismatches
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount.errors import FormatError, GraphmountError

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = "header"


@dataclass(frozen=True, kw_only=True)
class FolderFindings:
    """What is wrong with a folder.

    Attributes:
        path: The folder, without links.
        files: What was found in each file that is one, by its path from the folder on.
        problems: (file, section, offset, message) of all that no file shows by itself.
    """

    path: str
    files: dict[str, _core.Verification]
    problems: list[tuple[str, str, int, str]]


def verify_folder(
    path: str | os.PathLike[str], report: Callable[[int, int], object] | None
) -> FolderFindings:
    """Reads all files of a dataset.

    Args:
        path: The folder.
        report: Is told (bytes done, bytes in all).

    Raises:
        FileNotFoundError: There is no such folder, or it is no dataset.
        FormatError: Its description is damaged, so nobody knows what should be there.
        DatasetChangedError: The folder was replaced meanwhile.
        OSError: A file cannot be read.
    """
    with OpenedFolder(path) as folder:
        description = read_description(folder)
        findings = FolderFindings(path=folder.path, files={}, problems=[])
        names = [(kind, name, file) for kind, name, file in named_files(description)]
        handles: dict[str, Graph | FeatureStore] = {}
        sizes = {file: _size(folder, file) for _, _, file in names}
        done, total = 0, sum(sizes.values())
        for kind, _, file in names:
            share = _share(report, done, sizes[file], total)
            handle = _verify_file(folder, kind, file, findings, share)
            if handle is not None:
                handles[file] = handle
            done += sizes[file]
        for mismatch in mismatches(handles, description):
            findings.problems.append((mismatch.file, _HEADER, mismatch.offset, str(mismatch.error)))
        for kind, name, file in names:
            store = handles.get(file)
            if kind == "splits" and isinstance(store, FeatureStore) and is_split(store):
                _verify_split(store, str(name), file, description["num_nodes"], findings)
        if findings.problems and not folder.is_at_its_path():
            raise changed(folder.path, "was replaced while it was being read; verify it again")
    return findings


def _size(folder: OpenedFolder, file: str) -> int:
    """For progress only: what cannot be opened is told later."""
    try:
        descriptor = folder.open_file(file)
    except (OSError, FormatError):
        return 0
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _share(
    report: Callable[[int, int], object] | None, before: int, size: int, total: int
) -> Callable[[int, int], object] | None:
    """The progress of a file as that of the whole folder."""
    if report is None:
        return None
    return lambda done, of_file: report(before + size * done // max(of_file, 1), total)


def _verify_file(
    folder: OpenedFolder,
    kind: str,
    file: str,
    findings: FolderFindings,
    report: Callable[[int, int], object] | None,
) -> Graph | FeatureStore | None:
    """Checks one file, and returns it if it can be mounted."""
    handle_type = Graph if kind == "graph" else FeatureStore
    try:
        descriptor = folder.open_file(file)
        try:
            found = _core.verify_file(os.fsencode(folder.path_of(file)), report, descriptor)
        finally:
            os.close(descriptor)
        findings.files[file] = found
        if any(section == _HEADER for section, _, _ in found.problems):
            return None
        return handle_type._open_inside(folder, file)  # noqa: SLF001
    except (FileNotFoundError, NotADirectoryError, PermissionError, FormatError) as error:
        findings.problems.append((file, _HEADER, 0, str(error)))
        return None


def _verify_split(
    store: FeatureStore, name: str, file: str, num_nodes: int, findings: FolderFindings
) -> None:
    try:
        check_split_ids(store, name, num_nodes)
    except GraphmountError as error:
        matrix = next(section for section in store.sections if section.name == "matrix")
        findings.problems.append((file, matrix.name, matrix.offset, str(error)))
