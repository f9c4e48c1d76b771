"""What runs in a process of its own, so that its memory and its time can be measured.

Each job does one thing, prints JSON, and ends. Cases start it with `job_command`.
"""

from __future__ import annotations

import sys


def job_command(name: str, *arguments: str) -> list[str]:
    """The command that runs a job of this folder with these arguments."""
    return [sys.executable, "-m", f"{__package__}.{name}", *arguments]
