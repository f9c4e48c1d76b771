"""The process that samples from a graph with little memory for some time, and prints JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

import graphmount as gm

from ..harness.process_counters import disk_read_bytes

_FANOUTS = (15, 10, 5)
_BATCH = 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--reads", default="auto")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    graph = gm.Graph(options.path, advice="random", reads=options.reads)
    generator = np.random.default_rng(options.seed)
    samples = edges = 0
    read_before = disk_read_bytes()
    start = time.perf_counter()
    while time.perf_counter() - start < options.seconds:
        seeds = generator.integers(0, graph.num_nodes, _BATCH)
        sample = graph.sample_neighbors(seeds, _FANOUTS, seed=(options.seed, samples))
        samples += 1
        edges += sample.num_edges
    spent = time.perf_counter() - start
    result = {
        "samples_per_second": samples / spent,
        "edges_per_second": edges / spent,
        "read_per_sample": (disk_read_bytes() - read_before) / samples,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
