"""What may be meant by the path of a file that is not there: one with nearly the same name."""

from __future__ import annotations

import difflib
import os

_LIKENESS = 0.6
#: Folders with more entries are not looked through.
_MOST_ENTRIES = 10_000


def near_path(path: str | bytes | os.PathLike[str], *, marker: str) -> str | None:
    """The path of a file, or of a folder that has a marker in it, with nearly this name beside it.

    Args:
        path: What is not there.
        marker: The file that tells folders that can be meant from others.

    Returns:
        The path, written as the one that was given; None if nothing there is like it.
    """
    folder, name = os.path.split(os.fsdecode(path).rstrip(os.sep))
    try:
        with os.scandir(folder or ".") as entries:
            names = [
                entry.name
                for number, entry in enumerate(entries)
                if number < _MOST_ENTRIES and not entry.name.startswith(".")
            ]
    except OSError:
        return None
    likeness = {other: _likeness(name, other) for other in names}
    for close in sorted(names, key=lambda other: (-likeness[other], other)):
        found = os.path.join(folder, close)
        if likeness[close] < _LIKENESS:
            return None
        if os.path.isfile(found) or os.path.isfile(os.path.join(found, marker)):
            return found
    return None


def _likeness(name: str, other: str) -> float:
    """How alike two names are, from 0 to 1; an ending that both have does not count."""
    stem, ending = os.path.splitext(name)
    other_stem, other_ending = os.path.splitext(other)
    pair = (stem, other_stem) if ending == other_ending else (name, other)
    return difflib.SequenceMatcher(a=pair[0], b=pair[1]).ratio()
