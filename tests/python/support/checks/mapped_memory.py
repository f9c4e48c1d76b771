"""Where an address of this process comes from."""

from __future__ import annotations

from pathlib import Path


def mapping_of(address):
    """The line of /proc/self/maps that holds an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return line
    return ""
