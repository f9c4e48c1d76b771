"""How much of the readers the fuzzers reach: lines of each file, as a table.

    fuzz_coverage.py BUILD [COVERAGE.json]

`BUILD` is a build of the core and its fuzzers with `--coverage`, of which the fuzzers have been run
(gcov tells what they reached); the other file is what coverage.py says of the readers in Python.
`make fuzz-coverage` does all of it.
"""

from __future__ import annotations

import json
import pathlib
import sys

from gcov_counts import read_counts

#: The rooms of the core that read what others have written: files, and text.
READERS = ("format", "graph", "graph/ids", "table", "text", "text/lines", "text/numbers", "verify")


def core_lines(build: pathlib.Path) -> dict[str, dict[int, bool]]:
    """Of each file of the readers: its lines of code, and whether they were reached."""
    return {
        name: counts.lines
        for name, counts in read_counts(build).items()
        if name.rpartition("/")[0] in READERS
    }


def python_lines(path: pathlib.Path) -> dict[str, tuple[int, int]]:
    """The same of the readers in Python, counted: reached, and all."""
    files = json.loads(path.read_text())["files"]
    return {
        pathlib.Path(name).name: (
            file["summary"]["covered_lines"],
            file["summary"]["num_statements"],
        )
        for name, file in files.items()
    }


def main() -> None:
    """Prints the table."""
    build = pathlib.Path(sys.argv[1]).resolve()
    counts = {name: (sum(lines.values()), len(lines)) for name, lines in core_lines(build).items()}
    if not counts:
        sys.exit(f"{build} has no figures of gcov: run the fuzzers first")
    if len(sys.argv) > 2:
        counts |= python_lines(pathlib.Path(sys.argv[2]))
    print(f"{'reader':28} {'lines':>6} {'reached':>8}")
    for name, (reached, lines) in sorted(counts.items()):
        print(f"{name:28} {lines:6} {reached / max(lines, 1):8.0%}")
    reached, lines = (sum(column) for column in zip(*counts.values(), strict=True))
    print(f"{'all':28} {lines:6} {reached / lines:8.0%}")


if __name__ == "__main__":
    main()
