"""Checking a whole file, or a whole dataset: every checksum and every rule of the format."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from graphmount import _core
from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.opening import changed, check_split_ids, is_split, mismatches
from graphmount._dataset.typed_description import is_typed
from graphmount._dataset.typed_opening import handle_type, typed_mismatches
from graphmount._mount.features import FeatureStore
from graphmount._support.display import Displayed
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.progress import ProgressOption, reporting
from graphmount.errors import FormatError, GraphmountError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The core lists as many of a file.
_MOST_PROBLEMS = 100
_HEADER = "header"


@dataclass(frozen=True, repr=False)
class Problem(Displayed):
    """Something wrong with a file.

    Attributes:
        section: The part of the file: a section such as "indices (in)", or "header" or "padding".
        offset: The position in the file, in bytes.
        message: What is wrong there.
        file: For a dataset, the file in its folder; None if a single file was checked.

    Examples:
        >>> import graphmount as gm
        >>> gm.Problem("indptr (in)", 65536, "the first offset is 1 instead of 0").section
        'indptr (in)'
    """

    section: str
    offset: int
    message: str
    file: str | None = None

    def __str__(self) -> str:
        text = f"{self.section}, byte {self.offset}: {self.message}"
        return text if self.file is None else f"{self.file}, {text}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Displayed):
    """What `verify` found.

    Attributes:
        path: The path of the file, or of the folder of a dataset.
        kind: What was checked: "graph", "features", "node ids" or "dataset".
        file_bytes: The size of the file, or of all files of a dataset.
        num_problems: How many problems there are, in all files.
        problems: The first hundred problems, in file order. For a dataset, problems of the folder
            come first: a file is missing, has another length than it should, or is of another
            version.
        files: For a dataset, the result for each file.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0]], "x.gd")
        >>> gm.verify("x.gd").ok
        True
    """

    path: str
    kind: Literal["graph", "features", "node ids", "dataset"]
    file_bytes: int
    num_problems: int
    problems: tuple[Problem, ...]
    files: tuple[Verification, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.num_problems == 0


def verify(path: str | os.PathLike[str], *, progress: ProgressOption = None) -> Verification:
    """Reads a whole file and checks every checksum and every rule of the format, in parallel.

    Opening a file does not read its data. So call this to make sure that a file is whole, after a
    download for example. Of a dataset it reads all files, and checks that they belong together:
    that they are the files listed in `dataset.json`, that tables have a row for each node or edge
    and the order of the graph, and that all ids in splits are nodes.

    Args:
        path: The path of a `.gl` or `.gd` file, or of the folder of a dataset.
        progress: A callback of (bytes done, bytes in all); True or False to show a progress bar or
            not. None shows one if the work takes a while.

    Returns:
        A `Verification`. Damage is reported there, not raised.

    Raises:
        FormatError: The file is not a graphmount file at all, or the folder has no readable
            description.
        DatasetChangedError: The folder was replaced while it was being checked.
        FileNotFoundError, PermissionError, OSError: The file cannot be read.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
        >>> with open("x.gd", "r+b") as file:
        ...     _ = file.seek(65536)
        ...     _ = file.write(b"oops")
        >>> print(gm.verify("x.gd").problems[0])
        matrix, byte 65536: the checksum of chunk 0 (16 bytes) does not match
    """
    name = os.fspath(path)
    shown = os.path.basename(os.path.normpath(name))
    with reporting(progress, f"verifying {shown}", in_bytes=True) as report:
        if os.path.isdir(path):
            return _verify_folder(path, report)
        return _of_file(name, _core.verify_file(os.fsencode(name), report))


def _of_file(name: str, found: _core.Verification) -> Verification:
    return Verification(
        path=name,
        kind=found.kind,  # type: ignore[arg-type]  # one of them
        file_bytes=found.file_bytes,
        num_problems=found.num_problems,
        problems=tuple(Problem(*row) for row in found.problems),
    )


def _verify_folder(
    path: str | os.PathLike[str], report: Callable[[int, int], object] | None
) -> Verification:
    """Checks every file of a dataset by itself, and that they belong together."""
    files: dict[str, Verification] = {}
    problems: list[Problem] = []  # which no file shows by itself
    handles: dict[str, Any] = {}
    with OpenedFolder(path) as folder:
        description = read_description(folder)
        found_mismatches = typed_mismatches if is_typed(description) else mismatches
        names = list(named_files(description))
        sizes = {file: _size(folder, file) for _, _, file in names}
        done, total = 0, sum(sizes.values())
        for kind, _, file in names:
            try:
                found = _verify_inside(folder, file, _share(report, done, sizes[file], total))
                files[file] = found
                if all(problem.section != _HEADER for problem in found.problems):
                    handles[file] = handle_type(kind)._open_inside(folder, file)  # noqa: SLF001
            except (FileNotFoundError, NotADirectoryError, PermissionError, FormatError) as error:
                problems.append(Problem(_HEADER, 0, str(error), file))
            done += sizes[file]
        problems += [
            Problem(_HEADER, wrong.offset, str(wrong.error), wrong.file)
            for wrong in found_mismatches(handles, description)
        ]
        for name, file, num_nodes in _splits_of(description):
            store = handles.get(file)
            if isinstance(store, FeatureStore) and is_split(store):
                problems += _wrong_ids(store, name, file, num_nodes)
        if problems and not folder.is_at_its_path():
            raise changed(folder.path, "was replaced while it was being read; verify it again")
    num_problems = len(problems)
    for file, found in files.items():
        num_problems += found.num_problems
        problems += [replace(problem, file=file) for problem in found.problems]
    return Verification(
        path=folder.path,
        kind="dataset",
        file_bytes=sum(found.file_bytes for found in files.values()),
        num_problems=num_problems,
        problems=tuple(problems[:_MOST_PROBLEMS]),
        files=tuple(files.values()),
    )


def _splits_of(description: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """The name and the file of each split, and how many nodes there are to choose from."""
    types = description["node_types"].values() if is_typed(description) else [description]
    for entry in types:
        for name, file in entry["splits"].items():
            yield name, file, entry["num_nodes"]


def _size(folder: OpenedFolder, file: str) -> int:
    """For progress only: what cannot be opened is told later."""
    try:
        with folder.open_file(file) as opened:
            return os.fstat(opened.fileno()).st_size
    except (OSError, FormatError):
        return 0


def _share(
    report: Callable[[int, int], object] | None, before: int, size: int, total: int
) -> Callable[[int, int], object] | None:
    """The progress of a file as that of the whole folder."""
    if report is None:
        return None
    return lambda done, of_file: report(before + size * done // max(of_file, 1), total)


def _verify_inside(
    folder: OpenedFolder, file: str, report: Callable[[int, int], object] | None
) -> Verification:
    path = folder.path_of(file)
    with folder.open_file(file) as opened:
        return _of_file(path, _core.verify_file(os.fsencode(path), report, opened.fileno()))


def _wrong_ids(store: FeatureStore, name: str, file: str, num_nodes: int) -> Iterator[Problem]:
    try:
        check_split_ids(store, name, num_nodes)
    except GraphmountError as error:
        matrix = next(section for section in store.sections if section.name == "matrix")
        yield Problem(matrix.name, matrix.offset, str(error), file)
