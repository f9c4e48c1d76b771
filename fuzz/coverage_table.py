"""How much of the readers the fuzzers reach: lines of each file, as a table.

    coverage_table.py BUILD [COVERAGE.json]

`BUILD` is a build of the core and its fuzzers with `--coverage`, of which the fuzzers have been run
(gcov tells what they reached); the other file is what coverage.py says of the readers in Python.
`make fuzz-coverage` does all of it.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections import defaultdict

#: The rooms of the core that read what others have written: files, and text.
READERS = ("format", "graph", "graph/ids", "table", "text", "text/lines", "text/numbers", "verify")


def core_lines(build: pathlib.Path) -> dict[str, dict[int, bool]]:
    """Of each file of the readers: its lines of code, and whether they were reached."""
    lines: dict[str, dict[int, bool]] = defaultdict(dict)
    for data in sorted(build.rglob("*.gcda")):
        told = subprocess.run(
            ["gcov", "--json-format", "--stdout", data], capture_output=True, check=True, cwd=build
        ).stdout
        for report in told.splitlines():
            for file in json.loads(report)["files"]:
                _, _, name = file["file"].rpartition("cpp/graphmount/")
                if name.rpartition("/")[0] not in READERS:
                    continue
                found = lines[name]
                for line in file["lines"]:
                    number = line["line_number"]
                    found[number] = found.get(number, False) or line["count"] > 0
    return lines


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
