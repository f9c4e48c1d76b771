"""A process that forks with loops in every state, and children that use their loaders in every way.

Each child ends by itself, with exit code 0 if all was as it should be; one that hangs is ended by
an alarm. Meanwhile another thread of the parent loops, so that locks and queues are copied at any
moment. Prints JSON: how many children there were, and what went wrong. Arguments: the folder of a
dataset, the kind of reading, a seed, and how many children; all combinations if 0.
"""

from __future__ import annotations

import copy
import gc
import itertools
import json
import os
import pickle
import random
import signal
import sys
import threading
import traceback

from dataset_kinds import kind_of
from run_mode import IS_SANITIZED

import graphmount as gm

SECONDS = 60
#: GCC's AddressSanitizer keeps the locks of its allocator over a fork, so that now and then a child
#: waits for ever for a thread that it does not have. A fault of ours would come again.
TRIES = 4 if IS_SANITIZED else 1
WINDOW = {"batch_size": 20, "memory": "20KiB", "window": 3}
KINDS = {
    "window": WINDOW,
    "sweep": {"batch_size": 60, "memory": "60KiB", "window": 16, "prefetch": 4},
    "mapped": {**WINDOW, "reader": "mapped"},
    "pread": {**WINDOW, "reader": "pread"},
    "uring": {**WINDOW, "reader": "uring"},
}
PLACES = ("not begun", "begun", "running", "left", "finished")


def make_loader(dataset, kind, seed):
    return gm.NeighborLoader(
        dataset,
        [5, 5],
        input_nodes=kind_of(dataset).nodes(400),
        ids="internal",
        shuffle=True,
        seed=seed,
        **KINDS[kind],
    )


def check_loop(loader, dataset, first=0):
    numbers = []
    for batch in loader:
        kind_of(dataset).check(batch)
        numbers.append(batch.number)
    assert numbers == list(range(first, len(loader))), numbers


def loop(loader, dataset, _):
    check_loop(loader, dataset)
    check_loop(loader, dataset)


def close(loader, dataset, _):
    loader.close()
    check_loop(loader, dataset)
    loader.close()


def ask(loader, *_):
    assert loader.stats().batches == 0
    assert loader.state_dict()["batch"] <= len(loader)
    assert "batches" in repr(loader)


def resume(loader, dataset, _):
    loader.load_state_dict({**loader.state_dict(), "batch": 3})
    check_loop(loader, dataset, first=3)


def send(loader, dataset, _):
    check_loop(pickle.loads(pickle.dumps(loader)), dataset)  # noqa: S301
    check_loop(copy.copy(loader), dataset)


def go_on(_, __, batches):
    if batches is None:
        return
    try:
        next(batches, None)
    except RuntimeError as error:
        if "forked" not in str(error):
            raise
    batches.close()


def do_nothing(*_):
    pass


ACTIONS = (loop, close, ask, resume, send, go_on, do_nothing)
ENDS = ("exit", "drop", "drop and exit", "at once")


def reach(loader, place):
    """The loop at this place, and a batch of it."""
    if place == "not begun":
        return None, None
    batches = iter(loader)
    if place == "begun":
        return batches, None
    batch = next(batches)
    if place == "left":
        return None, batch
    if place == "finished":
        batch = list(batches)[-1]
    return batches, batch


def child(action, end, loader, dataset, reached):
    """What the child does, up to its end; SystemExit is one."""
    batches, batch = reached
    del reached
    signal.alarm(SECONDS)
    try:
        action(loader, dataset, batches)
        if batch is not None:
            kind_of(dataset).check(batch)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        os._exit(1)
    if end == "exit":
        sys.exit(0)
    del batch, batches, loader
    gc.collect()
    if end == "drop and exit":
        sys.exit(0)
    os._exit(0)


def keep_busy(dataset, is_over):
    loader, kind = make_loader(dataset, "sweep", 1), kind_of(dataset)
    while not is_over.is_set():
        for _ in loader:
            if is_over.is_set():
                return
            kind.store.gather(kind.ids.as_internal([1, 2, 3]))


def main(folder, kind, seed, count):
    dataset = gm.Dataset(folder)
    data = kind_of(dataset)
    assert data.graph.num_destinations == len(data.store) == len(data.labels)
    choice = random.Random(int(seed))
    combinations = list(itertools.product(PLACES, ACTIONS, ENDS))
    if int(count):
        combinations = choice.sample(combinations, int(count))
    probe = make_loader(dataset, kind, 0)
    list(probe)
    assert probe.stats().tables[data.table].is_swept == (kind == "sweep")
    is_over = threading.Event()
    busy = threading.Thread(target=keep_busy, args=[dataset, is_over])
    busy.start()
    try:
        failures = []
        for number, (place, action, end) in enumerate(combinations):
            for _ in range(TRIES):
                loader = make_loader(dataset, kind, number)
                status = status_of_child(loader, dataset, place, action, end)
                if status != -signal.SIGALRM:
                    break
            if status != 0:
                failures.append([place, action.__name__, end, status])
    finally:
        is_over.set()  # or the thread would loop for ever
    busy.join()
    sys.stdout.write(json.dumps({"children": len(combinations), "failures": failures}))


def status_of_child(loader, dataset, place, action, end):
    """How a child ends that has a loader at this place, does something to it, and ends so."""
    batches, batch = reach(loader, place)
    process = os.fork()
    if process == 0:
        child(action, end, loader, dataset, (batches, batch))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    # The parent goes on as if nothing had happened.
    if batches is not None:
        for batch in batches:
            kind_of(dataset).check(batch)
    check_loop(loader, dataset)
    return status


if __name__ == "__main__":
    main(*sys.argv[1:])
