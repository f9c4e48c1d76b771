"""Reads Matrix Market files that were damaged at random; nothing but a `SourceError` may come out.

How it is called, see `python_driver.py`. Each file is read whole and in small blocks, with and
without weights and bad lines, and must give the same edges, or the same first error, each time; in
little memory, and in seconds.
"""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

from graphmount._sources.text.matrix_market import MatrixMarketEdges
from graphmount.errors import SourceError
from python_driver import Fuzzer

if TYPE_CHECKING:
    import random

TOKENS = (
    b"0 1 2 3 -1 +1 9 10 99999999999999999999 9223372036854775807 1e5 1.5 .5 -0 nan inf 1e999 0x10 "
    b"1_0 x % %%MatrixMarket matrix coordinate array pattern real integer complex general symmetric"
    b" skew-symmetric hermitian \xff \xe2\x82\xac \x00 \xc2\xb2"
).split(b" ")
BREAKS = (b"\n", b"\r\n", b"\r", b" ", b"\t", b"\x0b", b"\x0c", b"\n\n", b"\x1c", b"\x85", b"")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A file that is changed a little, and mostly has as many entries as it says."""
    data = _changed(data, chance)
    data = counted(data) if chance.randrange(3) else data
    return gzip.compress(data, 1) if chance.randrange(10) == 0 else data


def _changed(data: bytes, chance: random.Random) -> bytes:
    """A file with some of its bytes, words or lines changed, moved, repeated or gone."""
    content = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(content) + 1)
        match chance.randrange(8):
            case 0:
                content[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                content[place : place + chance.randrange(1, 20)] = b""
            case 2:
                content[place:place] = chance.choice(TOKENS) + chance.choice(BREAKS)
            case 3:
                lines = bytes(content).split(b"\n")
                line = chance.randrange(len(lines))
                lines[line:line] = [chance.choice(lines)] * chance.choice((1, 1, 2, 50))
                content[:] = b"\n".join(lines)
            case 4:
                words = bytes(content).split(b" ")
                words[chance.randrange(len(words))] = chance.choice(TOKENS)
                content[:] = b" ".join(words)
            case 5:
                content[place:place] = chance.choice(BREAKS)
            case 6:
                content[place:place] = bytes([chance.randrange(256)]) * chance.choice((10, 9000))
            case _:
                del content[place:]
    # Rarely, so that other inputs get their share: a line that does not end.
    if chance.randrange(500) == 0:
        content[place:place] = chance.choice((b"1", b" ", b"1 ", b"%")) * (1 << 17)
    return bytes(content)


def counted(data: bytes) -> bytes:
    """The file with the number of entries that it has: else most would fail by that alone."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        words = line.split()
        if len(words) == 3 and not line.startswith(b"%"):
            entries = sum(bool(other.strip()) for other in lines[number + 1 :])
            lines[number] = b" ".join([*words[:2], b"%d" % entries])
            break
    return b"\n".join(lines)


def read(path: str, *, weights: bool, memory: int, skips: bool) -> tuple[object, ...]:
    """All that a reading gives: edges, or what is wrong with the file."""
    try:
        source = MatrixMarketEdges(path, weights=weights, on_error="skip" if skips else "raise")
        src: list[int] = []
        dst: list[int] = []
        values: list[float] = []
        for batch in source.batches(memory=memory):
            src += batch.src.tolist()  # type: ignore[union-attr]
            dst += batch.dst.tolist()  # type: ignore[union-attr]
            values += [] if batch.weights is None else batch.weights.tolist()
    except SourceError as error:
        return ("error", str(error))
    ends = source.num_ends or (source.num_nodes or 0, source.num_nodes or 0)
    if any(
        not 0 <= node < most for some, most in zip((src, dst), ends, strict=True) for node in some
    ):
        raise AssertionError("an edge has an end that is no node")
    return ("edges", src, dst, list(map(repr, values)), source.skipped.count)


def check(data: bytes, folder: str) -> str:
    """Reads a file in every way; returns what became of it."""
    path = os.path.join(folder, "m.mtx")
    with open(path, "wb") as file:
        file.write(data)
    kinds = []
    for weights in (False, True):
        for skips in (False, True):
            whole = read(path, weights=weights, memory=1 << 20, skips=skips)
            for memory in (1, 700):
                other = read(path, weights=weights, memory=memory, skips=skips)
                # Of a damaged archive, bad lines show before the damage or not at all.
                is_archive = data.startswith(b"\x1f\x8b")
                if other != whole and not (is_archive and other[0] == whole[0] == "error"):
                    raise AssertionError(f"memory={memory}: {other!r:.300} and {whole!r:.300}")
            kinds.append(str(whole[0]))
    return "edges" if "edges" in kinds else "error"


FUZZER = Fuzzer(
    name="matrix_market",
    check=check,
    mutated=mutated,
    readers=("graphmount._sources.text.matrix_market", "graphmount._sources.contract.exact"),
)

if __name__ == "__main__":
    FUZZER.main()
