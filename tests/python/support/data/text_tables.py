"""Text tables to be read, and all that is read of them."""

from __future__ import annotations

import numpy as np

from graphmount._support.text_columns import TextColumn

MEMORY = 1 << 20


def write(tmp_path, text, name="edges.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def as_list(keys):
    if isinstance(keys, TextColumn):
        data = keys.data.tobytes()
        return [data[a:b].decode() for a, b in zip(keys.offsets, keys.offsets[1:], strict=False)]
    assert keys.dtype == np.int64
    assert keys.flags.c_contiguous
    return keys.tolist()


def edges_of(source, memory=MEMORY):
    """All edges as (src, dst, weight, time), in order."""
    rows = []
    done = 0
    for batch in source.batches(memory=memory):
        columns = [as_list(batch.src), as_list(batch.dst)]
        for values, dtype in ((batch.weights, np.float32), (batch.timestamps, np.int64)):
            assert values is None or values.dtype == dtype
            columns.append([None] * len(columns[0]) if values is None else values.tolist())
        assert columns[0], "no empty batches"
        rows += zip(*columns, strict=True)
        assert done <= batch.done <= source.size
        done = batch.done
    return rows


def pairs_of(source, memory=MEMORY):
    return [(src, dst) for src, dst, _, _ in edges_of(source, memory)]


def rows_of(source, memory=MEMORY):
    batches = list(source.batches(memory=memory))
    for batch in batches:
        assert batch.rows.dtype == source.dtype
    keys = None
    if source.has_keys:
        keys = [key for batch in batches for key in as_list(batch.keys)]
    return np.concatenate([batch.rows for batch in batches]), keys
