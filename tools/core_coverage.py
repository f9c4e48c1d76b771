"""How much of the core its tests reach: lines and branches of each room, as a table.

    core_coverage.py BUILD [--uncovered]

`BUILD` is a build of the core with `--coverage`, of which the tests have been run. `--uncovered`
lists the lines that were not reached, by file. `make coverage` does all of it.
"""

from __future__ import annotations

import pathlib
import sys
from collections import defaultdict

from gcov_counts import FileCounts, read_counts


def row(name: str, files: list[FileCounts]) -> str:
    """One row of the table."""
    lines = [reached for file in files for reached in file.lines.values()]
    branches = [reached for file in files for reached in file.branches.values()]
    shares = (f"{sum(found) / max(1, len(found)):9.1%}" for found in (lines, branches))
    return f"{name:14} {len(lines):6,} {next(shares)} {len(branches):9,} {next(shares)}"


def main() -> None:
    """Prints the table."""
    build = pathlib.Path(sys.argv[1]).resolve()
    files = read_counts(build)
    if not files:
        sys.exit(f"{build} has no figures of gcov: run its tests first")
    rooms: dict[str, list[FileCounts]] = defaultdict(list)
    for name, counts in files.items():
        rooms[name.partition("/")[0]].append(counts)
    print(f"{'room':14} {'lines':>6} {'reached':>9} {'branches':>9} {'reached':>9}")
    for room, found in sorted(rooms.items()):
        print(row(room, found))
    print(row("the core", list(files.values())))
    if "--uncovered" in sys.argv:
        for name, counts in sorted(files.items()):
            missed = [str(line) for line, reached in sorted(counts.lines.items()) if not reached]
            if missed:
                print(f"{name}: {' '.join(missed)}")


if __name__ == "__main__":
    main()
