"""The real graphzero, asked in a process of its own: it aborts on input that it does not expect."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_MARK = "answer:"


def ask_graphzero(code, *arguments):
    """Runs code with `gz` and `np`; what it assigns to `answer` comes back through JSON."""
    pytest.importorskip("graphzero", reason="graphzero is not installed")
    program = f"import json, sys\nimport numpy as np\nimport graphzero as gz\n{code}\n"
    program += f"print({_MARK!r} + json.dumps(answer))"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.split(_MARK)[-1])
