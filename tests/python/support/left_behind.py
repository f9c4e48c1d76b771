"""What the processes that this one has started hold of ours, and a kill could leave behind.

Sealed memory and sockets without a file are gone with the last process that has them, so it is
processes that are asked: those that this one has started, and what those have started, also if they
were killed since. Files are looked for where they would be.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

OURS = "graphmount"
PR_SET_CHILD_SUBREAPER = 36

# From now on, a process whose parent is killed has this one as its parent, and not that of all.
ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants():
    """All processes that this one has started, directly or not."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The parent is the second word after the name, which may have any character.
            parents[int(place.parts[2])] = int(place.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def held():
    """Sealed memory and sockets of ours that these processes have open, with who has them."""
    sockets = {}
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if len(words) > 7 and OURS in words[7]:
            sockets[f"socket:[{words[6]}]"] = words[7]
    found = []
    for process in descendants():
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{process}/fd"):
                with contextlib.suppress(OSError):
                    target = os.readlink(f"/proc/{process}/fd/{name}")
                    if target in sockets or target.startswith(f"/memfd:{OURS}"):
                        found.append((process, sockets.get(target, target)))
            maps = Path(f"/proc/{process}/maps").read_text().splitlines()
            found += [(process, line) for line in maps if f"/memfd:{OURS}" in line]
    return found


def files(*folders):
    """Named memory of ours, and files in these folders that were never completed."""
    found = list(Path("/dev/shm").glob(f"*{OURS}*"))  # noqa: S108  (of the system)
    for folder in folders:
        found += Path(folder).rglob("*.unfinished")
    return sorted(str(each) for each in found)
