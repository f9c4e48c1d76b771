"""Checking a whole file, or a whole dataset: every checksum and every rule of the format."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal

from graphmount import _core
from graphmount._dataset.folder_verification import FolderFindings, verify_folder
from graphmount._support.progress import ProgressOption, reporting

#: The core lists as many of a file.
_MOST_PROBLEMS = 100


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file.

    Attributes:
        section: Where, such as "indices (in)", "header" or "padding".
        offset: The byte of the file.
        message: What.
        file: Of a dataset, which file of its folder; None of a file by itself.

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


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` found.

    Attributes:
        path: The file, or the folder of a dataset.
        kind: "graph", "features" or "dataset".
        file_bytes: Its size; of a dataset, that of all files.
        num_problems: How many problems there are, in all files.
        problems: The first hundred of them, in file order; of a dataset, first those that no file
            shows by itself: one that is missing, not as long as it should be, of another version.
        files: Of a dataset, what was found in each file.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0]], "x.gd")
        >>> gm.verify("x.gd").ok
        True
    """

    path: str
    kind: Literal["graph", "features", "dataset"]
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

    Opening a file does not read its data, so this is how to make sure of it, after a download say.
    Of a dataset it reads all files, and checks that they belong together: that they are the files
    that `dataset.json` lists, that tables have a row for each node or edge and the order of the
    graph, and that splits have nodes.

    Args:
        path: A `.gl` or `.gd` file, or the folder of a dataset.
        progress: A callback of (bytes done, bytes in all); True or False for a bar or none.

    Returns:
        A `Verification`. Damage is reported there, not raised.

    Raises:
        FormatError: The file is not a graphmount file at all, or the folder has no description that
            can be read.
        DatasetChangedError: The folder was replaced meanwhile.
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
            return _of_folder(verify_folder(path, report))
        return _of_file(name, _core.verify_file(os.fsencode(name), report))


def _of_file(name: str, found: _core.Verification) -> Verification:
    return Verification(
        path=name,
        kind="graph" if found.kind == "graph" else "features",
        file_bytes=found.file_bytes,
        num_problems=found.num_problems,
        problems=tuple(Problem(*row) for row in found.problems),
    )


def _of_folder(findings: FolderFindings) -> Verification:
    files = {
        file: _of_file(os.path.join(findings.path, file), found)
        for file, found in findings.files.items()
    }
    problems = [
        Problem(section, offset, message, file=file)
        for file, section, offset, message in findings.problems
    ]
    num_problems = len(problems)
    for file, verification in files.items():
        num_problems += verification.num_problems
        problems += [replace(problem, file=file) for problem in verification.problems]
    return Verification(
        path=findings.path,
        kind="dataset",
        file_bytes=sum(verification.file_bytes for verification in files.values()),
        num_problems=num_problems,
        problems=tuple(problems[:_MOST_PROBLEMS]),
        files=tuple(files.values()),
    )
