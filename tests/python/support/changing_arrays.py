"""A process whose calls get arrays that another thread spoils meanwhile: see test_caller_arrays.py.

    python changing_arrays.py ROUNDS

It says which of CALLS it makes, before it does. Files are those of the current folder.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import numpy as np

import graphmount as gm

COUNT, NODES = 100_000, 5_000
ids = np.zeros(COUNT, np.int64)
others = np.zeros(COUNT, np.int64)
rows = np.zeros((COUNT, 2), np.float32)
graph = gm.Graph("g.gl")
announced = gm.Graph("g.gl", reads="batch")
store = gm.FeatureStore("x.gd")

CALLS = {
    "gather_mapped": lambda: store.gather(ids, reader="mapped"),
    "gather_pread": lambda: store.gather(ids, reader="pread"),
    "gather_converted": lambda: store.gather(ids, reader="pread", dtype="float64"),
    "prefetch_rows": lambda: store.prefetch(ids),
    "prefetch": lambda: graph.prefetch(ids),
    "degree": lambda: graph.degree(ids),
    "has_edge": lambda: graph.has_edge(ids, others),
    "to_external": lambda: graph.to_external(ids),
    "to_internal": lambda: graph.to_internal(ids),
    "sample": lambda: graph.sample_neighbors(ids, [2, 2]),
    "sample_disjoint": lambda: graph.sample_neighbors(ids, [2], disjoint=True),
    "fanout": lambda: graph.batch_random_fanout(ids, 3),
    "fanout_batch": lambda: announced.batch_random_fanout(ids, 3),
    "walk": lambda: graph.random_walk(ids, 3),
    "walk_node2vec": lambda: graph.random_walk(ids, 3, p=0.5, q=2.0),
    "pairs": lambda: graph.skip_gram_pairs(ids, 3, window=2),
    "visits": lambda: graph.visit_counts(ids, 2, length=3),
    "negatives": lambda: graph.sample_negatives(ids, strict=True),
    "negatives_degree": lambda: graph.sample_negatives(ids, strict=True, weighting="degree"),
    "compile": lambda: gm.compile_graph((ids, others), "made.gl", num_nodes=NODES),
    "rows": lambda: gm.compile_features(
        rows, "made.gd", key=ids, num_nodes=NODES, missing=0, repeated="last"
    ),
}


class Spoiler(threading.Thread):
    """Waits until a call is about to begin, lets it see good ids for a while, and spoils them."""

    def __init__(self):
        super().__init__(daemon=True)
        self.delay = None  # of the call that is about to begin
        self.bad = NODES
        self.has_ended = False

    def run(self):
        while not self.has_ended:
            if self.delay is None:
                continue
            end, self.delay = time.perf_counter() + self.delay, None
            while time.perf_counter() < end:
                pass
            ids[5::97] = self.bad
            others[7::101] = self.bad


def main(rounds):
    spoiler = Spoiler()
    spoiler.start()
    for name, call in CALLS.items():
        print(name, flush=True)  # noqa: T201
        for number in range(rounds):
            spoiler.bad = (2**40, -(2**40), NODES)[number % 3]
            ids[:], others[:] = 1, 2
            spoiler.delay = number % 10 * 4e-5
            with contextlib.suppress(gm.errors.IdError, gm.errors.SourceError):
                call()
            while spoiler.delay is not None:
                pass
    spoiler.has_ended = True
    spoiler.join()


if __name__ == "__main__":
    main(int(sys.argv[1]))
