"""The process in which one tool reads or writes one file, once; prints JSON.

The clock runs while the tool works, not while Python and the tool are loaded. What the tool itself
prints is dropped. Libraries are imported by name: a peer's process has no need of the others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

from ..harness.process_counters import disk_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

_READING_THOUSANDTHS = 500  # what `compile_graph` tells a callback until it has read its source


def compile_graph(options: argparse.Namespace) -> dict[str, float]:
    import graphmount as gm

    start = read_at = time.perf_counter()

    def note(done: int, _: int) -> None:
        nonlocal read_at
        if done <= _READING_THOUSANDTHS:
            read_at = time.perf_counter()

    made = gm.compile_graph(
        options.source,
        options.out,
        neighbors=options.neighbors,
        memory=options.memory,
        progress=note,
    )
    return {"spilled": made.spilled_bytes, "reading": read_at - start}


def compile_features(options: argparse.Namespace) -> dict[str, float]:
    import graphmount as gm

    dtype = None if options.key is None else "float32"
    source: Any = options.source
    gm.compile_features(source, options.out, key=options.key, dtype=dtype, memory=options.memory)
    return {}


def verify(options: argparse.Namespace) -> dict[str, float]:
    import graphmount as gm

    return {"problems": len(gm.verify(options.source).problems)}


def copy(options: argparse.Namespace) -> dict[str, float]:
    subprocess.run(["/bin/cp", "--reflink=never", options.source, options.out], check=True)
    with open(options.out, "rb") as file:
        os.fsync(file.fileno())
    return {}


def convert_graph(options: argparse.Namespace) -> dict[str, float]:
    importlib.import_module("graphzero").convert_csv_to_gl(
        options.source, options.out, directed=True
    )
    return {}


def convert_features(options: argparse.Namespace) -> dict[str, float]:
    graphzero = importlib.import_module("graphzero")
    graphzero.convert_csv_to_gd(options.source, options.out, graphzero.DataType.FLOAT32)
    return {}


def convert_features_and_sync(options: argparse.Namespace) -> dict[str, float]:
    facts = convert_features(options)
    with open(options.out, "rb") as file:
        os.fsync(file.fileno())
    return facts


def read_by_polars(options: argparse.Namespace) -> dict[str, float]:
    frame = importlib.import_module("polars").read_csv(options.source, has_header=False)
    return {"rows": len(frame)}


def read_by_duckdb(options: argparse.Namespace) -> dict[str, float]:
    connection = importlib.import_module("duckdb").connect()
    table = "CREATE TABLE edges AS FROM read_csv(?, header = false)"
    connection.execute(table, [options.source])
    return {"rows": connection.execute("SELECT count(*) FROM edges").fetchone()[0]}


#: What each tool does, and the library to load before the clock starts.
TOOLS: dict[str, tuple[Callable[[argparse.Namespace], dict[str, float]], str]] = {
    "graphmount.compile_graph": (compile_graph, "graphmount"),
    "graphmount.compile_features": (compile_features, "graphmount"),
    "graphmount.verify": (verify, "graphmount"),
    "cp + fsync": (copy, "subprocess"),
    "graphzero.convert_csv_to_gl": (convert_graph, "graphzero"),
    "graphzero.convert_csv_to_gd": (convert_features, "graphzero"),
    "graphzero.convert_csv_to_gd + fsync": (convert_features_and_sync, "graphzero"),
    "polars.read_csv": (read_by_polars, "polars"),
    "duckdb read_csv": (read_by_duckdb, "duckdb"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("source")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--neighbors", choices=("in", "out", "both"), default="both")
    parser.add_argument("--memory", type=int, default=2 << 30)
    parser.add_argument("--key", type=int)
    options = parser.parse_args()
    work, library = TOOLS[options.tool]
    importlib.import_module(library)
    results = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    read_before, written_before = disk_bytes()
    processor_before = sum(os.times()[:4])
    start = time.perf_counter()
    facts = work(options)
    facts["seconds"] = time.perf_counter() - start
    facts["processor"] = sum(os.times()[:4]) - processor_before
    read, written = disk_bytes()
    facts |= {"disk_read": read - read_before, "disk_written": written - written_before}
    os.write(results, json.dumps(facts).encode())


if __name__ == "__main__":
    main()
