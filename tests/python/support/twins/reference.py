"""Slow, obviously correct twins.

A reader of the file format, written from docs/format.md with nothing but `struct` and `xxhash`, and
neighbor lists made with plain Python lists.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

CHUNK = 1 << 20
HEADER_FIELDS = "<8sIHHIIQQQQQII"
SECTION_FIELDS = "<HHHHQQQQQQQ"
DTYPES = {
    1: "<f4",
    2: "<f8",
    3: "<f2",
    4: "<u2",  # bfloat16, as its bits
    5: "|i1",
    6: "<i2",
    7: "<i4",
    8: "<i8",
    9: "|u1",
    10: "|b1",
}
KINDS = {
    1: "checksums",
    16: "indptr",
    17: "indices",
    18: "weights",
    19: "alias",
    20: "edge_ids",
    21: "timestamps",
    22: "source_rows",
    32: "node_ids",
    33: "name_offsets",
    34: "name_bytes",
    36: "id_table",
    64: "matrix",
    0x8040: "scales",
}


@dataclass
class ParsedFile:
    magic: bytes
    flags: int
    num_rows: int
    num_columns: int
    order: int
    sections: dict  # (kind, direction) -> array


def parse(path) -> ParsedFile:
    """Reads a file as the specification says, checking all checksums."""
    data = Path(path).read_bytes()
    (magic, mark, major, minor, header_bytes, count, file_bytes, flags, rows, columns, order) = (
        struct.unpack_from(HEADER_FIELDS, data)[:11]
    )
    assert mark == 0x01020304
    assert (major, minor) == (1, 0)
    assert header_bytes == 4096
    assert file_bytes == len(data)
    assert len(data) % 65536 == 0
    assert xxhash.xxh64_intdigest(data[:4088]) == struct.unpack_from("<Q", data, 4088)[0]
    arrays, chunks, checksums, digest = {}, [], None, None
    for number in range(count):
        entry = struct.unpack_from(SECTION_FIELDS, data, 256 + 64 * number)
        kind, direction, dtype, _, offset, size, section_rows, section_columns, first, sum_, _ = (
            entry
        )
        assert offset % 65536 == 0
        array = np.frombuffer(data, DTYPES[dtype], section_rows * section_columns, offset)
        assert array.nbytes == size
        if KINDS[kind] == "checksums":
            checksums, digest = array.view("<u8"), sum_
            assert xxhash.xxh64_intdigest(data[offset : offset + size]) == digest
            continue
        assert first == len(chunks)
        body = data[offset : offset + size]
        chunks += [xxhash.xxh64_intdigest(body[at : at + CHUNK]) for at in range(0, size, CHUNK)]
        arrays[KINDS[kind], direction] = array.reshape(section_rows, section_columns)
    assert checksums is not None
    assert chunks == checksums.tolist()
    return ParsedFile(magic, flags, rows, columns, order, arrays)


def id_hash(key):
    """The hash of an external id."""
    if isinstance(key, str):
        return xxhash.xxh64_intdigest(key.encode())
    x = (key + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def id_unhash(x):
    """The integer id with this hash."""
    x ^= (x >> 31) ^ (x >> 62)
    x = x * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    x ^= (x >> 27) ^ (x >> 54)
    x = x * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    x ^= (x >> 30) ^ (x >> 60)
    x = (x - 0x9E3779B97F4A7C15) % 2**64
    return x - 2**64 if x >= 2**63 else x


def id_path(key, num_slots):
    """The slots in which a table of so many may have this id, in the order of trying."""
    group = min(num_slots, 4096)
    home = id_hash(key) % num_slots
    return [home - home % group + (home + step) % group for step in range(group)]


def id_table(keys, num_slots):
    """The table that a writer makes of external ids."""
    table = [-1] * num_slots
    for node, key in enumerate(keys):
        table[next(slot for slot in id_path(key, num_slots) if table[slot] == -1)] = node
    return table


def neighbor_lists(
    src, dst, *, direction, weights=None, times=None, directed=True, dedup=False, self_loops="keep"
):
    """{node: [(neighbor, weight, time, row), …]} in the order in which a file lists them."""
    lists = defaultdict(list)
    for row, (source, target) in enumerate(zip(src, dst, strict=True)):
        if source == target and self_loops == "drop":
            continue
        weight = None if weights is None else np.float32(weights[row])
        time = None if times is None else times[row]
        owner, other = (target, source) if direction == "in" else (source, target)
        lists[owner].append((other, weight, time, row))
        if not directed and owner != other:
            lists[other].append((owner, weight, time, row))
    for owner, entries in lists.items():
        entries.sort(key=lambda entry: (entry[2] or 0, entry[0], entry[3]))
        if dedup:
            lists[owner] = _without_repeats(entries, dedup)
    return lists


def _without_repeats(entries, dedup):
    kept = []
    for neighbor, weight, time, row in entries:
        if kept and kept[-1][0] == neighbor and kept[-1][2] == time:
            if dedup == "sum":
                first = kept[-1]
                kept[-1] = (first[0], np.float32(first[1] + weight), first[2], first[3])
        else:
            kept.append((neighbor, weight, time, row))
    return kept
