"""Reads Matrix Market files that were damaged at random; nothing but a `SourceError` may come out.

    fuzz_matrix_market.py [--seed N] [--seconds N] [FILE ...]

The same seed makes the same files. Each is read whole and in small blocks, with and without weights
and bad lines, and must give the same edges, or the same first error, each time; in little memory,
and in seconds. With files, these are read instead. What fails is kept as `crash-matrix-market`.

Where atheris is installed, it finds the files (`--atheris`), led by what they reach in the reader.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter

from graphmount.errors import SourceError
from graphmount.sources.matrix_market import MatrixMarketEdges

CORPUS = pathlib.Path(__file__).parent / "corpus" / "matrix_market"
CRASH = "crash-matrix-market"

#: What a file may take, in seconds and bytes; a real reader of a few kilobytes needs neither.
MOST_SECONDS = 20
MOST_BYTES = 1 << 30

TOKENS = (
    b"0 1 2 3 -1 +1 9 10 99999999999999999999 9223372036854775807 1e5 1.5 .5 -0 nan inf 1e999 0x10 "
    b"1_0 x % %%MatrixMarket matrix coordinate array pattern real integer complex general symmetric"
    b" skew-symmetric hermitian \xff \xe2\x82\xac \x00 \xc2\xb2"
).split(b" ")
BREAKS = (b"\n", b"\r\n", b"\r", b" ", b"\t", b"\x0b", b"\x0c", b"\n\n", b"\x1c", b"\x85", b"")


def mutated(data: bytes, chance: random.Random) -> bytes:
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
    if any(not 0 <= node < (source.num_nodes or 0) for node in (*src, *dst)):
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


def run(data: bytes, folder: str) -> str:
    """`check` in so many seconds; keeps the file if it fails."""
    signal.alarm(MOST_SECONDS)
    try:
        return check(data, folder)
    except BaseException:  # noqa: BLE001  (whatever it is, it must not come out)
        pathlib.Path(CRASH).write_bytes(data)
        traceback.print_exc()
        print(f"fuzz: kept as {CRASH}", file=sys.stderr)
        sys.exit(1)
    finally:
        signal.alarm(0)


def late(*_: object) -> None:
    """Raises where the reader is when its time is over."""
    raise TimeoutError(f"one file took more than {MOST_SECONDS} s")


def run_for(seconds: float, seed: int, folder: str) -> None:
    """Makes files out of the corpus, and reads them."""
    corpus = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    for data in corpus:
        run(data, folder)
    counts: Counter[str] = Counter()
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        chance = random.Random(seed * 0x9E3779B97F4A7C15 + counts.total())
        data = chance.choice(corpus)
        data = mutated(data, chance)
        data = counted(data) if chance.randrange(3) else data
        # Files that were changed more than once reach further.
        if counts.total() % 50 == 0 and len(data) < 4096 and len(corpus) < 300:
            corpus.append(data)
        if chance.randrange(10) == 0:
            data = gzip.compress(data, 1)
        counts[run(data, folder)] += 1
    print(f"fuzz: {counts.total()} files read (seed {seed}): {dict(counts)}, nothing else")


def run_atheris(folder: str, arguments: list[str]) -> None:
    """Lets atheris find the files."""
    atheris = importlib.import_module("atheris")
    atheris.instrument_func(check)
    for module in ("matrix_market", "edge_values"):
        for value in vars(sys.modules[f"graphmount.sources.{module}"]).values():
            if callable(value) and not isinstance(value, type):
                atheris.instrument_func(value)
    # What it finds goes to the first folder.
    found = os.path.join(folder, "found")
    os.mkdir(found)
    atheris.Setup([sys.argv[0], *arguments, found, str(CORPUS)], lambda data: run(data, folder))
    atheris.Fuzz()


def main() -> None:
    """Reads what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--atheris", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options, others = parser.parse_known_args()
    signal.signal(signal.SIGALRM, late)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
    with tempfile.TemporaryDirectory(prefix="graphmount-fuzz-") as folder:
        if options.files:
            for path in options.files:
                print(path, run(path.read_bytes(), folder))
        elif options.atheris:
            seconds = [f"-max_total_time={int(options.seconds)}", f"-seed={options.seed}"]
            run_atheris(folder, [*seconds, *others])
        else:
            run_for(options.seconds, options.seed, folder)


if __name__ == "__main__":
    main()
