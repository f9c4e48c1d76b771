"""A table with what the compiler wants of its source: what travels from the call to the reader.

An option that means nothing to a source is an error: silence would be taken for a promise.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._support.arguments import require_choice
from graphmount._support.shown import shown

#: Whether a row that cannot be used ends the work, or is left out and counted.
OnError: TypeAlias = Literal["raise", "skip"]
#: What node ids are: positions (integers from 0 on), integers of any sign, or text.
KeyKind: TypeAlias = Literal["dense", "int", "text"]


#: What messages call options that have another name here.
_KNOWN_AS = {"keys": "key_type", "source_dtype": "dtype"}


class _Request:
    """What requests for edges and for rows share.

    Attributes:
        on_error: "skip" leaves out rows that cannot be used, and counts them.
    """

    #: No options to read a source by. Rows that cannot be used are left out of any source.
    _not_for_reading: ClassVar[tuple[str, ...]] = ("source", "on_error")
    on_error: OnError

    def __post_init__(self) -> None:
        require_choice("on_error", self.on_error, ("raise", "skip"))

    def allow(self, name: str, kind: str, *allowed: str) -> None:
        """Raises if an option to read by is used that is not among these.

        Args:
            name: What messages call the source.
            kind: What it is.
            allowed: The options that mean something to it.
        """
        for option in fields(self):  # type: ignore[arg-type]
            value = getattr(self, option.name)
            # Compared by identity: an array of weights would be compared value by value.
            is_default = value is option.default or (
                isinstance(value, str) and value == option.default
            )
            if is_default or option.name in (*allowed, *self._not_for_reading):
                continue
            known = (f"{_KNOWN_AS.get(other, other)}=" for other in allowed)
            raise ValueError(
                f"{_KNOWN_AS.get(option.name, option.name)}={shown(value)} means nothing for "
                f"{name}, {kind}; its options are: {', '.join(known) or 'none'}"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeRequest(EdgeTable, _Request):
    """A table of edges to be read.

    Attributes:
        keys: What ids are; None for what the source has.
        on_error: What to do with rows that cannot be read.
    """

    keys: KeyKind | None = None
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        """Checks what tables do not have."""
        super().__post_init__()
        require_choice("keys", self.keys, (None, "dense", "int", "text"))


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRequest(Table, _Request):
    """A table of rows to be read; its `source_dtype` is as what to read them.

    Attributes:
        on_error: What to do with rows that cannot be read.
    """

    _not_for_reading = ("source", "on_error", "dtype", "missing", "repeated", "nan", "quantize")

    on_error: OnError = "raise"
