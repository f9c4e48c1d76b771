"""A program: makes a dataset again and again, each time with another call of Python failing.

    python folder_faults.py FOLDER STEP

Calls are seen by an audit hook, which no process gets rid of: hence a program of its own. Those of
the core are not among them; tests/cpp has campaigns for these. Prints what is not as it should be.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS = {
    "fcntl.flock",
    "open",
    "os.chmod",
    "os.fsync",
    "os.link",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.truncate",
}
#: What cleaning up takes: if that fails, something stays until the next attempt.
REMOVALS = {"os.remove", "os.rmdir", "os.scandir", "os.listdir", "open"}


class Faults:
    """Counts calls about files in a folder, and has one of them fail."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.is_counting = False
        self.seen: list[str] = []
        self.at = -1
        self.code = errno.EIO
        sys.addaudithook(self.look)
        self.real_fsync = os.fsync
        os.fsync = self.fsync

    def fsync(self, descriptor: int) -> None:
        """Has an event as well, unlike that of Python."""
        self.look("os.fsync", (descriptor,))
        self.real_fsync(descriptor)

    def look(self, event: str, arguments: tuple[object, ...]) -> None:
        """The hook."""
        if not self.is_counting or event not in EVENTS:
            return
        place = arguments[0]
        if event == "open" and isinstance(place, int):  # a descriptor, which is open already
            return
        if isinstance(place, (str, bytes)):
            path = os.fsdecode(place)
            if path.startswith("/") and not path.startswith(self.folder):
                return
        self.seen.append(event)
        if len(self.seen) - 1 == self.at:
            raise OSError(self.code, os.strerror(self.code), self.folder)


def content(path: Path) -> dict[str, bytes]:
    """The files of a folder, by name."""
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def compile_one(path: Path, number: int, *, overwrite: bool) -> None:
    """A dataset with everything that Python writes by itself."""
    edges = np.random.default_rng(number).integers(0, 30, (2, 200))
    gm.compile_dataset(
        path,
        edges=edges,
        num_nodes=30,
        features={"x": np.full((30, 4), number, np.float32)},
        labels=np.arange(30) % 3,
        splits={"train": np.arange(10)},
        overwrite=overwrite,
    )


class Campaign:
    """Fails each call in turn, and collects what is not as it should be."""

    def __init__(self, folder: Path) -> None:
        self.problems: list[str] = []
        self.old, self.new = (self.made(folder / str(number), number) for number in range(2))
        self.folder = folder / "work"
        self.folder.mkdir()
        self.path = self.folder / "data"
        self.faults = Faults(self.folder)

    @staticmethod
    def made(path: Path, number: int) -> dict[str, bytes]:
        """What a dataset has in it."""
        compile_one(path, number, overwrite=False)
        return content(path)

    def run(self, *, overwrite: bool, step: int) -> None:
        """Without a fault, and then with one at every call, or every few."""
        self.strike(-1, overwrite=overwrite)
        count = len(self.faults.seen)
        if self.problems or count < 10:
            self.problems.append(f"there are {count} calls")
        for at in range(0, count, step):
            self.strike(at, overwrite=overwrite)

    def strike(self, at: int, *, overwrite: bool) -> None:
        """One call fails; then it has to work."""
        if overwrite:
            compile_one(self.path, 0, overwrite=True)
        num_open = len(os.listdir("/proc/self/fd"))
        code, said = self.attempt(at, overwrite=overwrite)
        struck = self.faults.seen[at] if 0 <= at < len(self.faults.seen) else "none"
        problems = [*self.problems_with(code, struck, overwrite=overwrite)]
        if len(os.listdir("/proc/self/fd")) > num_open:
            problems.append("descriptors stay open")
        try:
            compile_one(self.path, 1, overwrite=True)
        except Exception as error:  # noqa: BLE001 (whatever it is, there should be none)
            problems.append(f"afterwards: {error!r}")
        # What could not be removed is kept, beside it, and a warning says so.
        stays = struck in REMOVALS and not code
        if content(self.path) != self.new or (not stays and os.listdir(self.folder) != ["data"]):
            problems.append(f"afterwards there are {os.listdir(self.folder)}")
        for path in self.folder.iterdir():
            if not overwrite or path != self.path:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        where = f"overwrite={overwrite}, call {at} ({struck}), {said}: "
        self.problems += [where + problem for problem in problems]

    def attempt(self, at: int, *, overwrite: bool) -> tuple[int, str]:
        """The number of the error, and all of it; 0 if there is none."""
        self.faults.seen, self.faults.at = [], at
        self.faults.is_counting = True
        try:
            compile_one(self.path, 1, overwrite=overwrite)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is looked at)
            return getattr(error, "errno", None) or -1, repr(error)
        else:
            return 0, "no error"
        finally:
            self.faults.is_counting = False

    def problems_with(self, code: int, struck: str, *, overwrite: bool) -> Iterator[str]:
        """What is wrong right after a fault."""
        if code not in (0, self.faults.code):
            yield "another error"
        found = content(self.path)
        if code == 0 and found != self.new:
            yield "it is not the new dataset"
        if found not in (self.old if overwrite else {}, self.new):
            yield f"neither the old nor the new dataset, but {sorted(found)}"
        left = sorted(set(os.listdir(self.folder)) - {"data"})
        # Who cannot lock does not know whether another holds the lock, and leaves it where it is.
        if struck == "fcntl.flock" and left == [".data.graphmount-lock"]:
            left = []
        if left and struck not in REMOVALS:
            yield f"{left} are left behind"


def main() -> int:
    """The exit status: whether a fault was not taken as it should be."""
    campaign = Campaign(Path(sys.argv[1]).resolve())
    for overwrite in (False, True):
        campaign.run(overwrite=overwrite, step=int(sys.argv[2]))
    sys.stdout.write("\n".join(campaign.problems))
    return int(bool(campaign.problems))


if __name__ == "__main__":
    sys.exit(main())
