"""What gcov knows of a build of the core with `--coverage`, after its programs were run.

Lines and branches are those of the source: code that was compiled many times, as templates and
headers are, counts once, and as reached if any of its copies was.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pathlib


@dataclass
class FileCounts:
    """Lines and branches of one file, each with whether it was reached.

    Attributes:
        lines: By number.
        branches: By number of the line, and place within it. The ways that only an exception takes
            are left out: nearly every call has one.
    """

    lines: dict[int, bool] = field(default_factory=dict)
    branches: dict[tuple[int, int], bool] = field(default_factory=dict)


def read_counts(build: pathlib.Path) -> dict[str, FileCounts]:
    """The counts of every file of the core, by its path below cpp/graphmount."""
    files: dict[str, FileCounts] = defaultdict(FileCounts)
    for data in sorted(build.rglob("*.gcda")):
        told = subprocess.run(
            ["gcov", "--json-format", "--branch-probabilities", "--stdout", data],
            capture_output=True,
            check=True,
            cwd=build,
        ).stdout
        for report in told.splitlines():
            for file in json.loads(report)["files"]:
                _, core, name = file["file"].rpartition("cpp/graphmount/")
                if core:
                    _add(files[name], file["lines"])
    return files


def _add(counts: FileCounts, lines: list[dict[str, Any]]) -> None:
    for line in lines:
        number = line["line_number"]
        counts.lines[number] = counts.lines.get(number, False) or line["count"] > 0
        taken = [branch for branch in line["branches"] if not branch["throw"]]
        if len(taken) < 2:
            continue  # the other way was an exception
        for place, branch in enumerate(taken):
            key = (number, place)
            counts.branches[key] = counts.branches.get(key, False) or branch["count"] > 0
