"""A process in which threads use loaders in every way at once, while reads fail and files vanish.

Every row of every batch is compared with a function of its id, and an epoch that is not left has
every input exactly once. Prints JSON: what happened, and how much memory there was on the way.
Arguments: the folder of datasets, of one kind of nodes or of many, how many batches to take, and
how many threads take them.
"""

from __future__ import annotations

import collections
import ctypes
import errno
import faulthandler
import gc
import json
import os
import random
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
from dataset_kinds import kind_of

import graphmount as gm

SECONDS_WITHOUT_A_BATCH = 60
ROUNDS = 10


class Campaign:
    """What the threads share."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.num_batches = 0  # of all rounds so far
        self.failures = []
        self.counts = collections.Counter()
        self.memory = []
        self.lock = threading.Lock()
        # The functions of the preloaded library are those of the process.
        self.set_failures = getattr(ctypes.CDLL(None), "set_failures", lambda _: None)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1
            # A hang is a failure that says where.
            faulthandler.dump_traceback_later(SECONDS_WITHOUT_A_BATCH, exit=True)

    @property
    def is_over(self):
        return self.failures or self.counts["batches"] >= self.num_batches

    def run(self, number, num_threads):
        """One round: threads work until there are enough batches, and leave nothing behind."""
        threads = [
            threading.Thread(target=self.work, args=[number * num_threads + i])
            for i in range(num_threads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what the allocator keeps is not what is in use
        self.memory.append(gm.memory().anonymous_bytes)

    def work(self, number):
        """One thread."""
        choice = random.Random(number)
        private = self.folder / f"private-{number}"
        try:
            take_while_it_breaks(self, choice, private, ("truncated", "vanished")[number % 2])
            while not self.is_over:
                use_a_loader(self, choice, private)
        except BaseException as error:
            self.failures.append(repr(error))
            raise


def random_inputs(kind, choice):
    """Nodes, or links with negatives: the loader, and its options."""
    if choice.random() < 0.5:
        return gm.NeighborLoader, {
            "input_nodes": choice.choice(kind.inputs),
            "batch_size": choice.choice([16, 64, 200]),
        }
    return gm.LinkNeighborLoader, {
        "edge_label_index": kind.links(choice, 400),
        "ids": choice.choice(["internal", "external"]),
        "neg_sampling": choice.choice([None, "binary", ("binary", 0.5), ("triplet", 3)]),
        "batch_size": choice.choice([4, 16, 40]),  # with negatives, as many seeds as above
    }


def random_loader(kind, choice):
    loader, inputs = random_inputs(kind, choice)
    return loader(
        kind.dataset,
        choice.choice([[3], [5, 5], [2, -1]]),
        **inputs,
        shuffle=choice.random() < 0.5,
        drop_last=choice.random() < 0.5,
        disjoint=choice.random() < 0.2,
        edge_features=choice.choice([[], [kind.edge_table]]),
        memory=choice.choice([0, "20KiB", "100KiB", "1GiB"]),
        window=choice.choice([1, 3, 16, 63]),
        prefetch=choice.choice([1, 2, 5]),
        reader=choice.choice(["auto", "pread", "uring", "mapped"]),
        seed=choice.randrange(1000),
    )


def num_inputs(loader):
    """How many inputs an epoch has: all, or those of whole batches."""
    whole = len(loader) * loader._batch_size
    return whole if loader._drop_last else loader._num_inputs


def take_some(campaign, kind, loader, choice):
    """A loop that is left at a random place, and perhaps gone on with."""
    kept, inputs = [], []
    leave_at = choice.randrange(len(loader) + 5)
    for batch in loader:
        kind.check(batch)
        inputs.append(batch.input_ids)
        campaign.count("batches")
        if choice.random() < 0.1:
            kept.append(batch)
        if choice.random() < 0.02:
            time.sleep(0.01)  # the queue of finished batches fills up
            campaign.count("waits")
        if batch.number == leave_at:
            campaign.count("early exits")
            break
    else:
        places = np.concatenate([np.empty(0, int), *inputs])
        assert len(np.unique(places)) == len(places) == num_inputs(loader), places
        campaign.count("whole epochs")
    if choice.random() < 0.3:
        other = random_loader(kind, choice)
        state = loader.state_dict()
        place = {"epoch": state["epoch"], "batch": min(state["batch"], len(other))}
        other.load_state_dict({**other.state_dict(), **place})
        for batch, _ in zip(other, range(5), strict=False):
            kind.check(batch)
            campaign.count("batches")
        campaign.count("resumed")
    for batch in kept:
        kind.check(batch)
    if choice.random() < 0.5:
        loader.close()


def take_while_it_breaks(campaign, choice, private, way):
    """A loop over files of its own, which are truncated or vanish in the middle of it."""
    shutil.copytree(campaign.folder / "given", private, dirs_exist_ok=True)
    kind = kind_of(gm.Dataset(private))
    loader = gm.NeighborLoader(
        kind.dataset,
        [5, 5],
        input_nodes=kind.inputs[0],
        batch_size=16,
        memory=0,
        window=choice.choice([1, 4]),
        reader="pread",
    )
    try:
        for batch in loader:
            kind.check(batch)
            campaign.count("batches")
            if batch.number == 3:
                if way == "truncated":
                    os.truncate(kind.store.path, os.path.getsize(kind.store.path) // 3)
                else:
                    shutil.rmtree(private)
            if batch.number == 40:
                break
    except (gm.errors.FileChangedError, OSError) as error:
        campaign.count(f"{way}: {type(error).__name__}")
    else:
        campaign.count(f"{way}: all rows right")
    shutil.rmtree(private, ignore_errors=True)


def use_a_loader(campaign, choice, private):
    fault = choice.random()
    try:
        if fault < 0.1:
            way = choice.choice(["truncated", "vanished"])
            return take_while_it_breaks(campaign, choice, private, way)
        if fault < 0.3:
            campaign.set_failures(choice.choice([1, 7, 100]))
        kind = kind_of(gm.Dataset(campaign.folder / choice.choice(["hot", "given"])))
        loader = random_loader(kind, choice)
        for _ in range(choice.choice([1, 1, 3])):
            take_some(campaign, kind, loader, choice)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        campaign.count("failed reads")
    finally:
        campaign.set_failures(0)


def fail_a_read(campaign):
    """All reads of a loop fail. In loops of many threads, chance may have it that none does."""
    kind = kind_of(gm.Dataset(campaign.folder / "given"))
    loader = gm.NeighborLoader(
        kind.dataset, [5, 5], input_nodes=kind.inputs[0], batch_size=16, memory=0, reader="pread"
    )
    campaign.set_failures(1)
    try:
        for batch in loader:
            kind.check(batch)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        campaign.count("failed reads")
    finally:
        campaign.set_failures(0)


def main():
    folder, num_batches, num_threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    campaign = Campaign(folder)
    for number in range(ROUNDS):
        campaign.num_batches += num_batches // ROUNDS
        campaign.run(number, num_threads)
    fail_a_read(campaign)
    faulthandler.cancel_dump_traceback_later()
    json.dump(
        {
            "counts": campaign.counts,
            "memory": campaign.memory,
            "failures": campaign.failures,
            "threads": len(os.listdir("/proc/self/task")),
            "files": len(os.listdir("/proc/self/fd")),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
