"""A piece of advice, and how its figures are worded: estimates have two digits that count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphmount._support.display import Displayed


@dataclass(frozen=True, kw_only=True, repr=False)
class Finding(Displayed):
    """One piece of advice.

    Attributes:
        subject: What the advice is about.
        level: "good", "note", or "act" if something should be done.
        text: The advice, in plain words.

    Examples:
        >>> from graphmount.doctor import Finding
        >>> Finding(subject="io_uring", level="good", text="It is allowed.").level
        'good'
    """

    subject: str
    level: Literal["good", "note", "act"]
    text: str


def as_option(size: int) -> str:
    """A size as one would write it, rounded down: "8GiB", "1.5GiB", "512MiB"."""
    if size >= 10 << 30:
        return f"{size >> 30}GiB"
    if size >= 1 << 30:
        return f"{(size * 10 >> 30) / 10:g}GiB"
    return f"{max(1, size >> 20)}MiB"


def about(number: float) -> str:
    """Two digits that count, for estimates: "190,000"."""
    if number < 10:
        return f"{number:.1f}"
    return f"{round(number, 2 - len(str(int(number)))):,.0f}"


def rate(number: float) -> str:
    """Something in a second: "0.63", "4.2", "190"."""
    return f"{number:.2g}" if number < 10 else about(number)
