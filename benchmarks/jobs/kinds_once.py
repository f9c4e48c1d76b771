"""The process that compiles a dataset of the shape of MAG240M from streams; prints JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time

import graphmount as gm

from ..data.mag_data import EDGES, Shape, Streams, labels_of, splits_of, years_of
from ..harness.process_counters import disk_bytes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=float, required=True)
    parser.add_argument("--edges", type=float, required=True)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--memory", type=int, required=True)
    options = parser.parse_args()
    shape = Shape(options.nodes, options.edges, options.rows)
    streams = Streams()
    nodes = {name: gm.Nodes(num_nodes=count) for name, count in shape.num_nodes.items()}
    if shape.has_rows:
        labels, years = labels_of(shape), years_of(shape)
        nodes["paper"] = gm.Nodes(
            features={"x": streams.rows(labels)},
            labels=gm.Table(source=labels, dtype="int64"),
            timestamps=years,
            splits=splits_of(years),
            num_nodes=len(labels),
        )
    before, start = disk_bytes(), time.perf_counter()
    made = gm.compile_dataset(
        options.folder,
        nodes=nodes,
        edges={
            relation: gm.EdgeTable(source=streams.edges(shape, relation), columns=("src", "dst"))
            for relation in EDGES
        },
        reverse=True,
        neighbors="in",
        memory=options.memory,
        notes=["generated, with the proportions of MAG240M: benchmarks/data/mag_data.py"],
    )
    seconds = time.perf_counter() - start
    read, written = (now - then for now, then in zip(disk_bytes(), before, strict=True))
    found = {
        "num_nodes": made.num_nodes,
        "num_edges": made.num_edges,
        "bytes": made.file_bytes,
        "seconds": seconds,
        "source_seconds": streams.seconds,
        "disk_read": read,
        "disk_written": written,
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
