"""A mounted file that another process overwrites: errors of ours, or answers, but never a crash."""

from __future__ import annotations

import subprocess
import sys

import pytest
from run_mode import SUPPORT

SCRIPT = SUPPORT / "overwriting.py"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_in_a_file_leads_astray(seed, tmp_path, campaign):
    found = subprocess.run(
        [sys.executable, SCRIPT, str(seed), str(campaign(2, 60))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stderr[-2000:]
