"""How messages show values of users and files: never longer than a line, whatever they are.

Python refuses to print a number of 5,000 digits, and a list may be as large as memory. So messages
use `shown` for values that have not been checked yet.
"""

from __future__ import annotations

import reprlib

_LONGEST = 80
#: Of integers with more bits only the size is shown, because converting them to digits takes long.
_MOST_BITS = 256


class _Short(reprlib.Repr):
    """Parts of containers are cut as well, so that nothing is written that is then thrown away."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxdict = self.maxarray = 6
        self.maxstring = self.maxother = self.maxlong = _LONGEST

    def repr_int(self, value: int, level: int) -> str:
        """Also those that Python does not print."""
        del level
        if value.bit_length() > _MOST_BITS:
            sign = "-" if value < 0 else ""
            return f"{sign}10**{int(value.bit_length() * 0.30102999566)} or so"
        return str(int(value))


def shown(value: object) -> str:
    """`repr(value)`, shortened to fit into a message."""
    text = _Short().repr(value)
    return text if len(text) <= 2 * _LONGEST else f"{text[: 2 * _LONGEST]}…"
