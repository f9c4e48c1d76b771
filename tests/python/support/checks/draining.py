"""Reading a source to its end, and holding it to what it promises on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphmount._support.text_columns import TextColumn


@dataclass
class Edges:
    src: list
    dst: list
    weights: list | None
    timestamps: list | None
    num_batches: int

    @property
    def pairs(self):
        return list(zip(self.src, self.dst, strict=True))


def drain_edges(source, *, memory=1 << 20) -> Edges:
    """All edges of a source as lists."""
    result = Edges([], [], [], [], 0)
    done = 0
    for batch in source.batches(memory=memory):
        result.src += values(batch.src, is_text=source.has_text_ids)
        result.dst += values(batch.dst, is_text=source.has_text_ids)
        assert len(batch.src) == len(batch.dst)
        assert (batch.weights is not None) == source.has_weights
        assert (batch.timestamps is not None) == source.has_timestamps
        if source.has_weights:
            assert batch.weights.dtype == np.float32
            assert len(batch.weights) == len(batch.src)
            result.weights += batch.weights.tolist()
        if source.has_timestamps:
            assert batch.timestamps.dtype == np.int64
            assert len(batch.timestamps) == len(batch.src)
            result.timestamps += batch.timestamps.tolist()
        assert batch.done >= done
        done = batch.done
        result.num_batches += 1
    if source.size is not None and result.num_batches:
        assert done <= source.size
    if source.num_edges is not None:
        assert len(result.src) == source.num_edges
    if not source.has_weights:
        result.weights = None
    if not source.has_timestamps:
        result.timestamps = None
    return result


def drain_rows(source, *, memory=1 << 20):
    """All rows of a source as one array, and their keys as a list or None."""
    parts, keys, done = [], [], 0
    for batch in source.batches(memory=memory):
        assert batch.rows.dtype.isnative
        assert (batch.keys is not None) == source.has_keys
        if source.has_keys:
            assert len(batch.keys) == len(batch.rows)
            keys += values(batch.keys, is_text=source.has_text_keys)
        assert batch.rows.shape[1:] == (() if source.is_vector else (source.num_columns,))
        assert source.dtype in (batch.rows.dtype.name, "bfloat16")
        assert batch.done >= done
        done = batch.done
        parts.append(np.array(batch.rows))
    if source.size is not None and parts:
        assert done <= source.size  # a stream of Arrow has a mark behind its last batch
    rows = np.concatenate(parts) if parts else np.empty((0, source.num_columns))
    assert source.num_rows in (None, len(rows))
    return rows, keys if source.has_keys else None


def values(column, *, is_text) -> list:
    if not is_text:
        assert column.dtype == np.int64
        assert column.flags.c_contiguous
        return column.tolist()
    assert isinstance(column, TextColumn)
    data = bytes(column.data)
    assert column.offsets[0] == 0
    assert column.offsets[-1] == len(data)
    return [
        data[begin:end].decode()
        for begin, end in zip(column.offsets[:-1], column.offsets[1:], strict=True)
    ]
