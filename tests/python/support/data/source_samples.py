"""Edges to compile from every kind of source, and how to write them to files."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import uuid

import numpy as np
import pytest

# 60 edges among 20 nodes, of which the last has an edge: the largest id plus one is their number.
SRC, DST = np.random.default_rng(1).integers(0, 20, (2, 60))
SRC[7] = 19
WEIGHTS = np.random.default_rng(2).random(60).astype(np.float32)
TIMES = np.random.default_rng(3).integers(-50, 50, 60)
SIDES = {"weights": WEIGHTS, "timestamps": TIMES}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
OF_TABLE = {"columns": ("from", "to"), "weights": "w", "timestamps": "t"}


def as_text(*columns, delimiter=",", header=None, line_end="\n"):
    rows = [] if header is None else [header]
    rows += zip(*columns, strict=True)
    return "".join(delimiter.join(map(str, row)) + line_end for row in rows)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def zstd(data):
    return pytest.importorskip("zstandard").compress(data)


def table():
    pa = pytest.importorskip("pyarrow")
    columns = {"other": ["x"] * 60, "to": DST, "from": SRC.astype(np.int32), "w": WEIGHTS}
    return pa.table(columns | {"t": pa.array(TIMES).cast(pa.timestamp("s"))})


def write_table(path, rows):
    """A file of the kind that its name says."""
    if path.suffix == ".parquet":
        importlib.import_module("pyarrow.parquet").write_table(rows, path, row_group_size=17)
    elif path.suffix == ".feather":
        importlib.import_module("pyarrow.feather").write_feather(rows, path, chunksize=17)
    else:
        importlib.import_module("pyarrow.orc").write_table(rows, path)


def keys_of(kind):
    """What 20 nodes are called, none in its place."""
    numbers = np.random.default_rng(5).permutation(20)
    if kind == "int":
        return (numbers * 10**12 - 7 * 10**12).tolist()
    if kind == "uuid":
        return [str(uuid.UUID(int=int(number) << 64)) for number in numbers]
    return [f"Zoë {number}" for number in numbers]
