"""Folders of datasets as older versions wrote them."""

from __future__ import annotations

import json


def without_list(folder):
    """Takes the list of files out of the description."""
    path = folder / "dataset.json"
    description = json.loads(path.read_text())
    del description["files"]
    path.write_text(json.dumps(description))
