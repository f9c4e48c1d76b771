"""Options of sources, and which of them a kind of source knows.

An option that means nothing to a source is an error: silence would be taken for a promise.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from graphmount._support.shown import shown

#: Whether a row that cannot be used ends the work, or is left out and counted.
OnError: TypeAlias = Literal["raise", "skip"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeOptions:
    """What `open_edges` was told; see there."""

    columns: Any = None
    weights: Any = None
    timestamps: Any = None
    delimiter: str | None = None
    header: bool | None = None
    comments: str = "#%"
    keys: str | None = None
    on_error: OnError = "raise"
    shape: tuple[int, ...] | None = None
    dtype: Any = None

    def allow(self, name: str, kind: str, *allowed: str) -> None:
        """Raises if an option is used that is not among these."""
        _allow(self, name, kind, allowed)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowOptions:
    """What `open_rows` was told; see there."""

    key: Any = None
    columns: Any = None
    dtype: Any = None
    shape: tuple[int, ...] | None = None
    delimiter: str | None = None
    header: bool | None = None
    comments: str = "#%"
    on_error: OnError = "raise"
    member: str | None = None

    def allow(self, name: str, kind: str, *allowed: str) -> None:
        """Raises if an option is used that is not among these."""
        _allow(self, name, kind, allowed)


def _allow(
    options: EdgeOptions | RowOptions, name: str, kind: str, allowed: tuple[str, ...]
) -> None:
    for field in fields(options):
        if field.name == "on_error":  # the compilers skip what they cannot use of any source
            continue
        value = getattr(options, field.name)
        # Compared by identity: an array of weights would be compared value by value.
        is_default = value is field.default or (isinstance(value, str) and value == field.default)
        if field.name not in allowed and not is_default:
            # What is `keys` here is `key_type` to whoever reads this.
            names = ("key_type" if other == "keys" else other for other in allowed)
            known = ", ".join(f"{other}=" for other in names) or "none"
            raise ValueError(
                f"{field.name}={shown(value)} means nothing for {name}, {kind}; its options are: "
                f"{known}"
            )
