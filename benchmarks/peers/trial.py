"""Starts a peer's script once, to see what it does before its time is taken.

A script that fails is an error. A library that says itself that it cannot do this is none: its
words are the reason why it is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .environments import Peer

_SCRIPTS = Path(__file__).parent / "scripts"
_CANNOT = 3  # as `scripts/turn_loop.py` has it


class CannotError(RuntimeError):
    """What a library says that cannot do what is asked."""


@dataclass(frozen=True)
class Trial:
    """What a script showed: arrays of one batch, and the most memory it had before that."""

    shown: dict[str, Any]
    peak: int


def script_command(peer: Peer, script: str, *arguments: str) -> list[str]:
    """What runs a file of `scripts` in the environment of a peer."""
    return [peer.python, str(_SCRIPTS / f"{script}.py"), *arguments]


def try_script(command: Sequence[str]) -> Trial:
    """Runs `command`, which takes turns without this, for one batch that can be looked at.

    Raises:
        CannotError: The library says that it cannot.
        RuntimeError: The script failed, with its last words.
    """
    with tempfile.TemporaryDirectory(prefix="graphmount-trial-") as folder:
        out = os.path.join(folder, "shown.npz")
        run = subprocess.run(
            [*command, "--check", out], capture_output=True, text=True, check=False
        )
        if run.returncode == _CANNOT:
            raise CannotError(json.loads(run.stdout.splitlines()[-1])["cannot"])
        if run.returncode != 0:
            raise RuntimeError(f"{command[1]} failed: {run.stderr[-1000:]}")
        memory = json.loads(run.stdout.splitlines()[-1])
        with np.load(out) as shown:
            return Trial(dict(shown), memory["peak"])
