"""A process whose mounted graph is overwritten while calls read it: see test_overwriting.py.

    python overwriting.py SEED SECONDS

Prints what calls raised that is none of our errors. Files are made in the current folder.
"""

from __future__ import annotations

import faulthandler
import os
import random
import sys
import threading
import time

import numpy as np

import graphmount as gm

NODES, EDGES = 2_000, 20_000


def make_files(seed):
    """A graph, and tables of its nodes and edges; the kind of graph depends on the seed."""
    generator = np.random.default_rng(seed)
    gm.compile_graph(
        generator.integers(0, NODES, (2, EDGES)),
        "g.gl",
        num_nodes=NODES,
        weights=generator.random(EDGES),
        timestamps=generator.integers(0, 50, EDGES) if seed % 2 else None,
        node_ids=[f"n{node}" for node in range(NODES)] if seed % 3 else range(NODES),
        source_rows=True,
    )
    gm.compile_features(generator.random((NODES, 8)), "x.gd", order="g.gl")
    gm.compile_features(generator.random((EDGES, 2)), "e.gd")


class Overwriting(threading.Thread):
    """Writes nonsense somewhere into the sections, and soon afterwards what was there."""

    def __init__(self, seed, sections):
        super().__init__(daemon=True)
        self._random = random.Random(seed)
        self._places = [(section.offset, section.num_bytes) for section in sections]
        self.has_ended = False

    def run(self):
        descriptor = os.open("g.gl", os.O_RDWR)
        good = os.pread(descriptor, 1 << 30, 0)
        chance = self._random
        while not self.has_ended:
            offset, size = chance.choice(self._places)
            place = offset + chance.randrange(max(1, size - 8)) // 4 * 4
            nonsense = (b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f" * 2, chance.randbytes(8))
            numbers = (NODES, EDGES, 2**40, 2**62)
            choices = (*nonsense, *(number.to_bytes(8, "little") for number in numbers))
            os.pwrite(descriptor, chance.choice(choices), place)
            time.sleep(chance.choice((0, 1e-4, 1e-3)))
            os.pwrite(descriptor, good[place : place + 8], place)
            time.sleep(chance.choice((0, 1e-3)))
        os.close(descriptor)


def calls_of(graph, seed):
    """One of each kind of call that follows what is in the file."""
    every = np.arange(NODES)
    names = [f"n{node}" for node in range(200)] if seed % 3 else every
    tables = gm.FeatureStore("x.gd")
    edge_tables = {"e": gm.FeatureStore("e.gd")}

    def load():
        options = {"batch_size": 500, "memory": 20_000, "edge_features": edge_tables}
        for _ in gm.NeighborLoader((graph, tables), [3, 2], direction="out", **options):
            pass

    def sample(number):
        graph.sample_neighbors(
            every,
            [3, 2],
            direction=("in", "out")[number & 1],
            weighted=bool(number & 2),
            replace=bool(number & 4),
            subgraph_type=("directional", "induced")[number >> 3],
        )

    return [
        *(lambda number=number: sample(number) for number in range(16)),
        lambda: graph.random_walk(every, 8, weighted=True),
        lambda: graph.random_walk(every, 8, p=0.3, q=3.0),
        lambda: graph.random_walk(every, 8, p=0.3, q=3.0, weighted=True),
        lambda: graph.sample_negatives(every, strict=True),
        lambda: graph.sample_negatives(every, strict=True, weighting="degree"),
        lambda: graph.has_edge(every, every[::-1]),
        lambda: graph.batch_random_fanout(every, 20, weighted=True),
        lambda: graph.skip_gram_pairs(every, 5, window=2, negatives=2, negative_weighting="degree"),
        lambda: graph.visit_counts(every[:100], 5, length=4),
        lambda: graph.prefetch(every),
        graph.degree,
        graph.degree_summary,
        lambda: graph.to_external(every),
        lambda: graph.to_internal(names),
        lambda: gm.expected_access(graph, every[:50], [2, -1]),
        lambda: gm.LinkNeighborLoader(graph, [2], batch_size=100),
        lambda: gm.verify("g.gl"),
        lambda: gm.compile_graph(graph, "made.gl"),
        lambda: gm.compile_features(np.zeros((EDGES, 2)), "made.gd", edges=graph),
        load,
    ]


def main(seed, seconds):
    faulthandler.enable()
    make_files(seed)
    graph = gm.Graph("g.gl")
    writer = Overwriting(seed, [section for section in graph.sections if section.num_bytes])
    writer.start()
    chance = random.Random(seed)
    calls = calls_of(graph, seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            chance.choice(calls)()
        except gm.errors.GraphmountError:
            pass
        except Exception as error:  # noqa: BLE001
            print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201
    writer.has_ended = True
    writer.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
