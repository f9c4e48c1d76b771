"""Checking a whole file: every checksum and every rule of the format."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from graphmount import _core
from graphmount._progress import ProgressOption, reporting

__all__ = ["Problem", "Verification", "verify"]


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file.

    Attributes:
        section: Where, such as "indices (in)", "header" or "padding".
        offset: The byte of the file.
        message: What.

    Examples:
        >>> import graphmount as gm
        >>> gm.Problem("indptr (in)", 65536, "the first offset is 1 instead of 0").section
        'indptr (in)'
    """

    section: str
    offset: int
    message: str

    def __str__(self) -> str:
        return f"{self.section}, byte {self.offset}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` found.

    Attributes:
        path: The file.
        kind: "graph" or "features".
        file_bytes: Its size.
        num_problems: How many problems there are.
        problems: The first hundred of them, in file order.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0]], "x.gd")
        >>> gm.verify("x.gd").ok
        True
    """

    path: str
    kind: Literal["graph", "features"]
    file_bytes: int
    num_problems: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.num_problems == 0


def verify(path: str | os.PathLike[str], *, progress: ProgressOption = None) -> Verification:
    """Reads a whole file and checks every checksum and every rule of the format, in parallel.

    Opening a file does not read its data, so this is how to make sure of it, after a download say.

    Args:
        path: A `.gl` or `.gd` file.
        progress: A callback of (bytes done, bytes in all); True or False for a bar or none.

    Returns:
        A `Verification`. Damage is reported there, not raised.

    Raises:
        FormatError: The file is not a graphmount file at all.
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
    with reporting(progress, f"verifying {os.path.basename(name)}", in_bytes=True) as report:
        found = _core.verify_file(os.fsencode(name), report)
    return Verification(
        path=name,
        kind="graph" if found.kind == "graph" else "features",
        file_bytes=found.file_bytes,
        num_problems=found.num_problems,
        problems=tuple(Problem(*row) for row in found.problems),
    )
