"""How the tests are run, which the environment says, and where scripts that they start are."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: The folder of what tests share, scripts among it.
SUPPORT = Path(__file__).parent
#: Limits the memory of a command; there only in a clone.
MEMCAP = Path(__file__).parents[3] / "benchmarks" / "harness" / "memcap.py"
#: With long campaigns.
IS_LONG = os.environ.get("GRAPHMOUNT_LONG") == "1"
#: On a core that sanitizers watch: slow, and with memory of its own.
IS_SANITIZED = os.environ.get("GRAPHMOUNT_SANITIZED") == "1"


def without_leaks(said):
    """What a process said on standard error, without what nanobind says of objects at its end.

    A core that sanitizers watch has it tell of those that are still alive. Where threads, or a
    child of fork, have them until the end, that is as it should be.

    Args:
        said: All of it.
    """
    if not IS_SANITIZED:
        return said
    said = re.sub(r"See \S+/refleaks\.html", "", said)  # no end of line follows it
    return re.sub(r"^(nanobind: | - (leaked|\.\.\. )).*\n?", "", said, flags=re.MULTILINE)
