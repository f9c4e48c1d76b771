"""Amounts of bytes, read and written the way people do."""

from __future__ import annotations

import re

_UNITS = {"": 1, "b": 1}
_UNITS |= {f"{letter}ib": 1024 ** (power + 1) for power, letter in enumerate("kmgt")}
_UNITS |= {letter: 1024 ** (power + 1) for power, letter in enumerate("kmgt")}
_UNITS |= {f"{letter}b": 1000 ** (power + 1) for power, letter in enumerate("kmgt")}


def parse_bytes(size: int | str, name: str) -> int:
    """The number of bytes in 1073741824, "1GiB", "1G" or "1.5 GB" (a GB has 10**9)."""
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", size)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{name}={size!r} is not a size; write '4GiB' or '500MB'")
        return int(float(match[1]) * unit)
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError(f"{name}={size!r} is not a size; write '4GiB' or a number of bytes")
    return size


def format_bytes(size: int) -> str:
    """For people: "512 B", "1.5 GiB"."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
