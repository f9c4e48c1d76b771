"""Amounts of bytes, read and written the way people do.

Sizes are computed with whole numbers, never floats, and sizes that no machine has are refused.
"""

from __future__ import annotations

import re
from decimal import Decimal

from graphmount._support.shown import shown

_UNITS = {"": 1, "b": 1}
_UNITS |= {f"{letter}ib": 1024 ** (power + 1) for power, letter in enumerate("kmgt")}
_UNITS |= {letter: 1024 ** (power + 1) for power, letter in enumerate("kmgt")}
_UNITS |= {f"{letter}b": 1000 ** (power + 1) for power, letter in enumerate("kmgt")}

#: A number below this without a unit cannot be meant as bytes, except 0.
_FEWEST = 1024
#: The core counts bytes in 64 bits, and adds up and doubles what it is given.
_LARGEST = 2**60
#: Digits before and after the point: more are a mistake, and would take long to read.
_SIZE = re.compile(r"\s*([0-9]{1,24}(?:\.[0-9]{1,24})?)\s*([a-zA-Z]*)\s*")


def parse_bytes(size: int | str, name: str) -> int:
    """The number of bytes in 1073741824, "1GiB", "1G" or "1.5 GB" (a GB has 10**9).

    Raises:
        ValueError: It is not a size, more than any machine has, or a number such as 8 that was
            meant to have a unit.
    """
    has_unit = False
    if isinstance(size, str):
        match = _SIZE.fullmatch(size) if len(size) < 100 else None
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{name}={shown(size)} is not a size; write '4GiB' or '500MB'")
        number = int(Decimal(match[1]) * unit)
        has_unit = match[2] != ""
    elif isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError(f"{name}={shown(size)} is not a size; write '4GiB' or a number of bytes")
    else:
        number = size
    if 0 < number < _FEWEST and not has_unit:
        raise ValueError(
            f"{name}={shown(size)}: {number} bytes? Write {name}='{number}GiB' or '{number}MiB'; "
            f"if bytes are meant, '{number}B'"
        )
    if number > _LARGEST:
        raise ValueError(
            f"{name}={shown(size)} is more than any machine has; the most that can be written is "
            f"'{_LARGEST // 1024**4}TiB'"
        )
    return number


def format_bytes(size: int | None) -> str:
    """For people: "512 B", "1.5 GiB"; "unknown" if nobody knows."""
    if size is None:
        return "unknown"
    if abs(size) < 1024:
        return f"{size} B"
    for power, unit in enumerate(("KiB", "MiB", "GiB"), 1):
        if abs(size) < 1024 ** (power + 1):
            return f"{size / 1024**power:.1f} {unit}"
    # Whole numbers beyond: what a damaged header claims may be too large for a float.
    return f"{size / 1024**4:.1f} TiB" if abs(size) < 2**90 else f"{shown(size >> 40)} TiB"
