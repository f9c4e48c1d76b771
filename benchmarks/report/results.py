"""The file that a run of several benchmarks leaves: their results, where and how they ran."""

from __future__ import annotations

import json
from typing import Any

from graphmount._support.files.regular_files import open_regular
from graphmount._support.files.text_output import write_text

FORMAT = "graphmount-bench-1"

#: What a benchmark wrote, and "status", "seconds" and "command" of its process.
Result = dict[str, Any]


class ResultsError(ValueError):
    """A file is not what `graphmount bench` writes."""


def write_results(path: str, facts: dict[str, Any], results: list[Result]) -> None:
    """Writes all results so far; the file is whole at any time."""
    whole = {"format": FORMAT, **facts, "benchmarks": results}
    write_text(path, json.dumps(whole, indent=1) + "\n")


def read_results(path: str) -> dict[str, Any]:
    """What `write_results` wrote.

    Raises:
        ResultsError: The file is something else.
        OSError: It cannot be read.
    """
    try:
        with open_regular(path) as file:
            found = json.load(file)
    except ValueError as error:
        raise ResultsError(
            f"{path} is not JSON ({error}); give the results.json of a run"
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        kind = found.get("format") if isinstance(found, dict) else None
        raise ResultsError(
            f"{path} is not a file of results ({kind!r} instead of {FORMAT!r}); give the "
            "results.json that `graphmount bench` wrote"
        )
    return found
