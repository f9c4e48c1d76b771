"""Columns of text made of what other libraries have: strings of Python, and raw UUIDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphmount import _core
from graphmount._support.arguments import as_native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_UUID_LENGTH = 36
#: Where the 32 digits of a UUID stand among its dashes.
_DIGIT_PLACES = np.array([i for i in range(_UUID_LENGTH) if i not in (8, 13, 18, 23)])

#: Node ids as a source has them: numbers (int64, contiguous) or text.
Keys: TypeAlias = "NDArray[np.int64] | TextColumn"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextColumn:
    """Strings as Arrow keeps them: string i is `data[offsets[i]:offsets[i + 1]]`, in UTF-8."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def to_core(keys: Keys) -> Any:  # noqa: ANN401
    """Keys as the core takes them: numbers, or a pair of offsets and bytes."""
    return (keys.offsets, keys.data) if isinstance(keys, TextColumn) else keys


def from_core(found: Any) -> Any:  # noqa: ANN401
    """Keys as the core gives them: numbers, or a pair of offsets and bytes."""
    if isinstance(found, tuple):
        return TextColumn(offsets=as_native(found[0]), data=found[1])
    return as_native(found)


def from_strings(strings: Sequence[str]) -> TextColumn:
    """A column of strings.

    Raises:
        TypeError: Something is not a string.
        UnicodeEncodeError: A string has lone surrogates.
    """
    column: TextColumn = from_core(_core.join_names(list(strings)))
    return column


def from_uuids(uuids: NDArray[np.uint8]) -> TextColumn:
    """UUIDs of 16 bytes each, of shape (rows, 16), as "123e4567-e89b-12d3-a456-426614174000"."""
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.full((len(uuids), _UUID_LENGTH), ord("-"), np.uint8)
    halves = np.stack([uuids >> 4, uuids & 15], axis=2).reshape(len(uuids), 32)
    text[:, _DIGIT_PLACES] = digits[halves]
    offsets = np.arange(len(uuids) + 1, dtype=np.int64) * _UUID_LENGTH
    return TextColumn(offsets=offsets, data=text.reshape(-1))
