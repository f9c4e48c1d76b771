"""A process in which threads call everything at random, on the same handles and loaders.

Every row of every batch is compared with a function of its id, and every error must be one of those
that the rules allow. Prints JSON: how often what was called, and what went wrong. Arguments: the
folder of datasets, of one kind of nodes or of many, which classes of loaders ("arrays", "tensors"
or "pyg"), a seed, how many calls and how many threads.
"""

from __future__ import annotations

import collections
import faulthandler
import importlib
import json
import pickle
import random
import sys
import threading
import traceback
from pathlib import Path

import numpy as np
from dataset_kinds import kind_of

import graphmount as gm
from graphmount import errors

SECONDS_WITHOUT_A_CALL = 120
#: What a thread may be told when another one was faster.
ALLOWED = ("this loop was ended", "another thread is taking a batch", "has been closed")


class Shared:
    """What the threads share, and what came of it."""

    def __init__(self, folder, kind, num_calls):
        self.kind = kind
        self.dataset = gm.Dataset(Path(folder) / "hot")
        self.data = kind_of(self.dataset)
        self.graph_path, self.rows_path = self.data.graph.path, self.data.store.path
        self.handles = [gm.Graph(self.graph_path), gm.FeatureStore(self.rows_path)]
        self.loaders = [self.make_loader(number) for number in range(2)]
        self.loops = []
        self.calls_left = num_calls
        self.counts = collections.Counter()
        self.failures = []
        self.lock = threading.Lock()

    def make_loader(self, number):
        module = gm
        if self.kind != "arrays":
            name = "graphmount.torch" if self.kind == "tensors" else "graphmount.pyg"
            module = importlib.import_module(name)
        options = [
            {"memory": "60KiB", "window": 16, "batch_size": 60},  # which is swept
            {"memory": "20KiB", "window": 3, "batch_size": 20},
            {"memory": "1GiB", "window": 16, "batch_size": 50},
            {"memory": 0, "window": 2, "batch_size": 30, "reader": "pread"},
        ][number % 4]
        if number % 3 == 2:
            links = self.data.links(random.Random(number), 150)
            options |= {"edge_label_index": links, "ids": "internal"}
            return module.LinkNeighborLoader(self.dataset, [3], neg_sampling="binary", **options)
        options |= {"input_nodes": self.data.nodes(300), "ids": "internal", "shuffle": True}
        return module.NeighborLoader(self.dataset, [5, 5], seed=number, **options)

    def check(self, batch):
        if isinstance(batch, gm.Batch | gm.TypedBatch) and not isinstance(batch, gm.LinkBatch):
            self.data.check(batch)
        else:
            self.data.check_form(batch, self.kind)


def some_loop(shared, choice):
    return choice.choice(shared.loops) if shared.loops else begin(shared, choice)


def begin(shared, choice):
    loop = iter(choice.choice(shared.loaders))
    shared.loops = [*shared.loops[-3:], loop]
    return loop


def take(shared, choice):
    loop = some_loop(shared, choice)
    for _ in range(choice.randrange(6)):
        batch = next(loop, None)
        if batch is None:
            break
        shared.check(batch)


def loop_to_the_end(shared, choice):
    for batch in choice.choice(shared.loaders):
        shared.check(batch)


def close_a_loader(shared, choice):
    choice.choice(shared.loaders).close()


def replace_a_loader(shared, choice):
    shared.loaders[choice.randrange(2)] = shared.make_loader(choice.randrange(12))


def ask_a_loader(shared, choice):
    loader = choice.choice(shared.loaders)
    state = loader.state_dict()
    assert 0 <= state["batch"] <= len(loader), state
    loader.stats()
    repr(loader)


def resume_a_loader(shared, choice):
    loader = choice.choice(shared.loaders)
    batch = choice.randrange(len(loader))
    loader.load_state_dict({**loader.state_dict(), "batch": batch})


def send_a_loader(shared, choice):
    copied = pickle.loads(pickle.dumps(choice.choice(shared.loaders)))  # noqa: S301
    shared.check(next(iter(copied)))


def use_a_graph(shared, choice):
    graph = shared.handles[0]
    count = shared.data.num_nodes
    ids = np.asarray([choice.randrange(count) for _ in range(200)])
    sample = graph.sample_neighbors(ids, [3, 3], seed=choice.randrange(9))
    assert sample.nodes.max() < count
    graph.random_walk(ids, 4)
    graph.degree(ids)
    graph.has_edge(ids, ids)
    graph.sample_negatives(ids)
    assert graph.num_nodes == count


def use_a_store(shared, choice):
    store = shared.handles[1]
    ids = np.asarray([choice.randrange(shared.data.num_nodes) for _ in range(500)])
    reader = choice.choice(["auto", "mapped", "pread"])
    shared.data.check_rows(ids, store.gather(ids, reader=reader))
    shared.data.check_rows(ids, store.numpy()[ids])
    store.prefetch(ids)


def advise(shared, choice):
    handle = choice.choice(shared.handles)
    handle.advise(choice.choice(["auto", "normal", "random", "sequential", "willneed"]))
    assert handle.advice in ("normal", "random", "sequential")
    handle.memory()


def close_a_handle(shared, choice):
    number = choice.randrange(2)
    shared.handles[number].close()
    shared.handles[number] = (
        gm.Graph(shared.graph_path) if number == 0 else gm.FeatureStore(shared.rows_path)
    )


def use_a_dataset(shared, choice):
    dataset = pickle.loads(pickle.dumps(shared.dataset))  # noqa: S301
    if choice.random() < 0.5:
        dataset = shared.dataset
    shared.data.check_dataset(dataset)


def set_threads(_, choice):
    gm.set_num_threads(choice.choice([1, 2, 4]))


CALLS = {
    call.__name__: (call, weight)
    for call, weight in {
        begin: 2,
        take: 12,
        loop_to_the_end: 4,
        close_a_loader: 1,
        replace_a_loader: 1,
        ask_a_loader: 6,
        resume_a_loader: 2,
        send_a_loader: 1,
        use_a_graph: 3,
        use_a_store: 3,
        advise: 2,
        close_a_handle: 1,
        use_a_dataset: 2,
        set_threads: 1,
    }.items()
}


def work(shared, seed):
    choice = random.Random(seed)
    names, weights = list(CALLS), [weight for _, weight in CALLS.values()]
    while not shared.failures:
        with shared.lock:
            if shared.calls_left == 0:
                return
            shared.calls_left -= 1
            faulthandler.dump_traceback_later(SECONDS_WITHOUT_A_CALL, exit=True)
        (name,) = choice.choices(names, weights)
        outcome = "done"
        try:
            CALLS[name][0](shared, choice)
        except (RuntimeError, errors.ClosedError) as error:
            outcome = "refused"
            if not any(text in str(error) for text in ALLOWED):
                shared.failures.append(f"{name}: {traceback.format_exc()}")
        except BaseException:  # noqa: BLE001
            shared.failures.append(f"{name}: {traceback.format_exc()}")
        with shared.lock:
            shared.counts[f"{name} {outcome}"] += 1


def main(folder, kind, seed, num_calls, num_threads):
    shared = Shared(folder, kind, int(num_calls))
    threads = [
        threading.Thread(target=work, args=[shared, int(seed) * 1000 + number])
        for number in range(int(num_threads))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whatever happened, all of them still work.
    for loader in shared.loaders:
        loader.load_state_dict({**loader.state_dict(), "batch": 0})
        batches = list(loader)
        assert len(batches) == len(loader)
        for batch in batches:
            shared.check(batch)
    sys.stdout.write(json.dumps({"counts": shared.counts, "failures": shared.failures}))


if __name__ == "__main__":
    main(*sys.argv[1:])
