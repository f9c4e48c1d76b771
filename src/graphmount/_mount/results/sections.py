"""What a file is made of, for those who want to look inside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One section of a `.gl` or `.gd` file, as its header lists it.

    Attributes:
        name: What it holds, such as "indices (in)".
        dtype: Its element type.
        offset: Where it begins in the file.
        num_bytes: How long it is, without padding.
        shape: Rows and columns.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1, 2], [3, 4]], "x.gd", dtype="int8")
        >>> gm.FeatureStore("x.gd").sections[0]
        Section(name='matrix', dtype='int8', offset=65536, num_bytes=4, shape=(2, 2))
    """

    name: str
    dtype: str
    offset: int
    num_bytes: int
    shape: tuple[int, int]
