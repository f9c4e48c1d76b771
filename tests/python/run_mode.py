"""How the tests are run, which the environment says."""

from __future__ import annotations

import os

#: With long campaigns.
IS_LONG = os.environ.get("GRAPHMOUNT_LONG") == "1"
#: On a core that sanitizers watch: slow, and with memory of its own.
IS_SANITIZED = os.environ.get("GRAPHMOUNT_SANITIZED") == "1"
