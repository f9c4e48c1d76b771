"""Compressed text: every kind, damaged or not, unpacked by a thread that ends with its reader."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import lzma
import sys
import threading
import time
import zlib

import pytest
from open_sources import text_edges
from source_samples import zstd
from text_tables import pairs_of, write

from graphmount._sources.text.compression import UnpackedStream, find_compression, unpack
from graphmount.errors import SourceError

COMPRESSIONS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
LINES = "".join(f"{i},{i * 7919 % 100003}\n" for i in range(100_000)).encode()
EDGES = [(i, i * 7919 % 100003) for i in range(100_000)]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed(tmp_path, kind):
    compress = COMPRESSIONS[kind]
    packed = compress(LINES)
    assert find_compression(packed) == kind
    # The name says nothing, and the content may come in parts.
    half = len(LINES) // 2
    for content in (packed, compress(LINES[:half]) + compress(b"") + compress(LINES[half:])):
        source = text_edges(write(tmp_path, content))
        assert source.size == len(content)
        for memory in (300_000, 1 << 26):
            assert pairs_of(source, memory) == EDGES
    assert pairs_of(text_edges(write(tmp_path, compress(b"")))) == []
    with pytest.raises(
        SourceError, match=r"edges.csv, line 100001, column 1: 'x' is not a node id"
    ):
        pairs_of(text_edges(write(tmp_path, compress(LINES + b"x,1\n"))))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_damaged_archives(tmp_path, kind):
    packed = COMPRESSIONS[kind](LINES)
    for length in (12, len(packed) // 2, len(packed) - 1):
        path = write(tmp_path, packed[:length])
        with pytest.raises(SourceError, match=f"edges.csv: cut off: its {kind} data ends"):
            pairs_of(text_edges(path))
    damaged = bytearray(packed)
    for place in range(len(damaged) // 2, len(damaged) // 2 + 64):
        damaged[place] ^= 0x55
    # What comes before the damage is found may be wrong already.
    with pytest.raises(SourceError, match=f"edges.csv(, line |: damaged: its {kind} data cannot)"):
        pairs_of(text_edges(write(tmp_path, bytes(damaged))))
    with pytest.raises(SourceError, match=r"edges.csv: damaged"):
        pairs_of(text_edges(write(tmp_path, packed + b"garbage")))


def test_padding_behind_an_archive(tmp_path):
    path = write(
        tmp_path, gzip.compress(b"1,2\n") + bytes(512) + gzip.compress(b"3,4\n") + bytes(9)
    )
    assert pairs_of(text_edges(path)) == [(1, 2), (3, 4)]


def test_text_that_begins_like_an_archive():
    assert find_compression(b"BZh1,2\n3,4\n5,6\n") is None
    assert find_compression(b"P*M") is None
    assert find_compression(b"") is None


def test_unpacking_stops_with_its_reader(tmp_path):
    path = write(tmp_path, gzip.compress(LINES * 20))
    source = text_edges(path)
    for end in ("close", "drop", "throw"):
        batches = source.batches(memory=1 << 20)
        next(batches)
        if end == "close":
            batches.close()
        elif end == "throw":
            with pytest.raises(KeyError):
                batches.throw(KeyError())
        del batches
        assert not [t for t in threading.enumerate() if t.name == "graphmount-reader"]


def test_unpacking_runs_only_so_far_ahead(tmp_path, monkeypatch):
    path = write(tmp_path, gzip.compress(bytes(100 << 20), 1))
    sizes = []

    def counted(*arguments):
        for content, done in unpack(*arguments):
            sizes.append(len(content))
            yield content, done

    monkeypatch.setattr("graphmount._sources.text.compression.unpack", counted)
    stream = UnpackedStream(str(path), "gzip", ahead=1 << 20)
    try:
        buffer = bytearray(1 << 20)
        assert stream.readinto(memoryview(buffer)) == 1 << 20
        seen = 0
        while seen < len(sizes):  # until it goes no further
            seen = len(sizes)
            time.sleep(0.2)
        assert 1 << 20 <= sum(sizes) <= 3 << 20
    finally:
        stream.close()


def without(monkeypatch, *modules):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in modules else find_spec(name)
    )


def test_no_zstd(tmp_path, monkeypatch):
    path = write(tmp_path, zstd(LINES))
    without(monkeypatch, "compression.zstd", "zstandard", "pyarrow")
    with pytest.raises(SourceError, match=r"pip install 'graphmount\[zstd\]'"):
        text_edges(path)


def test_zstd_by_pyarrow(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = write(tmp_path, zstd(LINES) + zstd(LINES))
    cut_off = write(tmp_path, zstd(LINES)[:-100], "cut.csv")
    without(monkeypatch, "compression.zstd", "zstandard")
    assert b"".join(content for content, _ in unpack(str(path), "zstd")) == LINES * 2
    assert pairs_of(text_edges(path)) == EDGES * 2
    with pytest.raises(SourceError, match=r"cut.csv: damaged"):
        pairs_of(text_edges(cut_off))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_bombs_are_unpacked_little_by_little(tmp_path, kind):
    """64 KiB of a file may stand for gigabytes, of which at most 16 MiB are there at once."""
    content = bytes(64 << 20)
    path = write(tmp_path, COMPRESSIONS[kind](content))
    total, most = 0, 0
    for part, _ in unpack(str(path), kind):
        total += len(part)
        most = max(most, len(part))
    assert total == len(content)
    assert most <= (17 << 20 if kind == "zstd" else 1 << 20)


def with_large_window(kind):
    """A file that wants a window of 256 MiB or more to be unpacked."""
    if kind == "zstd":
        zstandard = pytest.importorskip("zstandard")
        parameters = zstandard.ZstdCompressionParameters(window_log=28)
        compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        return compressor.compress(LINES) + compressor.flush()
    packed = bytearray(lzma.compress(LINES, preset=0))
    begin, size = 12, 4 * (packed[12] + 1)
    assert packed[begin + 2] == 0x21  # the filter is LZMA2, and the size of its window comes next
    packed[begin + 4] = 34  # 512 MiB
    checksum = zlib.crc32(packed[begin : begin + size - 4])
    packed[begin + size - 4 : begin + size] = checksum.to_bytes(4, "little")
    return bytes(packed)


@pytest.mark.parametrize("kind", ["xz", "zstd"])
def test_large_windows_are_refused(tmp_path, kind):
    path = write(tmp_path, with_large_window(kind))
    with pytest.raises(SourceError, match=r"takes more than 128 MiB to unpack.*a lower level"):
        pairs_of(text_edges(path))
    # As it says; even the highest level of xz has a smaller one.
    lower = lzma.compress(LINES, preset=9) if kind == "xz" else zstd(LINES)
    assert pairs_of(text_edges(write(tmp_path, lower))) == EDGES
