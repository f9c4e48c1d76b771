"""Runs a command that compiles, such as `pip install -v .`, and shows how far the compiler is.

    python tools/show_build.py LOG COMMAND...

Of what the command prints, the steps of ninja are shown, shortened: `[12/112] cpp/.../graph.cpp`.
In a terminal they overwrite each other; elsewhere, such as in CI, each has its line. From the first
failure on, everything is shown. `LOG` gets all of it in any case. The exit status is the command's.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import time

#: A step of ninja: its number, what it does (which is left out), and the file that comes of it.
_STEP = re.compile(r"\s*(\[\d+/\d+\]) (.+)")
_OBJECT = re.compile(r"Building CXX object (?:CMakeFiles/)?[\w-]+\.dir/(.+)\.o$")
_FAILURE = re.compile(r"\s*(FAILED|CMake Error|error:|ERROR:|fatal error)")


def shortened(line: str) -> str | None:
    """A step of ninja in few words; None if the line is something else."""
    step = _STEP.match(line)
    if step is None:
        return None
    built = _OBJECT.match(step[2])
    # Some files are outside of the tree, such as those of nanobind: the name is enough.
    what = built[1].rpartition("site-packages/")[2] if built else step[2]
    if what.endswith("cmake_pch.hxx.gch"):
        what = "precompiled headers"
    return f"{step[1]} {what}"


def main() -> int:
    """Runs the command and shows its steps."""
    log = pathlib.Path(sys.argv[1])
    log.parent.mkdir(parents=True, exist_ok=True)
    is_terminal = sys.stdout.isatty()
    is_failing = False
    begun = time.monotonic()
    with (
        log.open("w") as kept,
        subprocess.Popen(
            sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        for line in process.stdout or ():
            kept.write(line)
            is_failing = is_failing or _FAILURE.match(line) is not None
            step = shortened(line)
            if is_failing:
                print(line, end="", flush=True)
            elif step is not None and is_terminal:
                print(f"\r\033[K{step[:100]}", end="", flush=True)
            elif step is not None:
                print(step, flush=True)
    status = process.returncode
    if is_terminal and not is_failing:
        print("\r\033[K", end="")
    if status and not is_failing:
        print(log.read_text(), end="")  # it failed in a way that is not known here
    print(f"{'failed' if status else 'done'} after {time.monotonic() - begun:.0f} s; log: {log}")
    return status


if __name__ == "__main__":
    sys.exit(main())
