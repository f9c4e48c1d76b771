"""Columns of numbers as lines of text: by Polars where it is installed, else by NumPy.

Polars is about fifteen times as fast, but it is a peer: benchmarks that need text must run without
it. Both write the shortest decimals that read back as the same numbers.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def write_lines(file: IO[bytes], columns: Sequence[NDArray[Any]]) -> None:
    """Appends a line for each row, with commas between the columns."""
    if importlib.util.find_spec("polars") is None:
        texts = [column.astype(str).tolist() for column in columns]
        file.writelines(f"{','.join(row)}\n".encode() for row in zip(*texts, strict=True))
    else:
        polars = importlib.import_module("polars")
        frame = polars.DataFrame({f"{place}": column for place, column in enumerate(columns)})
        frame.write_csv(file, include_header=False)
