"""An axis of a plot: where values lie on it, and which values are written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_TICKS = 7


@dataclass(frozen=True)
class Axis:
    """From the value `low` at pixel `start` to `high` at `end`, by steps or by factors."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """The pixel of a value.

        Examples:
            >>> Axis(1, 100, 0, 10, is_log=True).place(10)
            5.0
        """
        low, high = self.low, self.high
        if self.is_log:
            value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values within the axis, few enough to be read.

        Examples:
            >>> Axis(0, 10, 0, 100).ticks()
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
            >>> Axis(1, 100, 0, 100, is_log=True).ticks()
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        """
        return self._log_ticks() if self.is_log else self._even_ticks()

    def _even_ticks(self) -> list[float]:
        step = _round_step((self.high - self.low) / (_MOST_TICKS - 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step * number, 12) for number in range(first, last + 1)]

    def _log_ticks(self) -> list[float]:
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1,)):
            found = [digit * 10.0**exponent for exponent in exponents for digit in digits]
            found = [
                tick for tick in found if self.low * (1 - 1e-9) <= tick <= self.high * (1 + 1e-9)
            ]
            if len(found) <= _MOST_TICKS:
                break
        return found if len(found) > 1 else [self.low, self.high]


def _round_step(least: float) -> float:
    """The first of 1, 2, 5, 10, 20, … times a power of ten that is not below `least`."""
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


def axis_for(values: Sequence[float], start: float, end: float, *, is_log: bool) -> Axis:
    """An axis that holds all values; from 0 if it goes by steps."""
    if is_log and min(values) <= 0:
        raise ValueError(f"{min(values)} has no place on an axis that grows by factors")
    high = max(values)
    if is_log:
        low = min(values)
        return Axis(low / 1.25, high * 1.25, start, end, is_log=True)
    return Axis(0, high * 1.05 if high > 0 else 1, start, end)


def label(value: float) -> str:
    """A short text of a round number.

    Examples:
        >>> label(1500000), label(20), label(0.25)
        ('1.5M', '20', '0.25')
    """
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g}{letter}"
    return f"{value:.3g}"
