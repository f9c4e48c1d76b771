"""A process in which threads use loaders in every way at once, while reads fail and files vanish.

Every row of every batch is compared with a function of its id. Prints JSON: what happened, and how
much memory there was on the way. Arguments: the folder of datasets, how many batches to take, and
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

from loader_data import check_batch

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


def random_inputs(dataset, choice):
    """Nodes, or links with negatives: the loader, and its options."""
    if choice.random() < 0.5:
        return gm.NeighborLoader, {
            "input_nodes": choice.choice([None, "train"]),
            "batch_size": choice.choice([16, 64, 200]),
        }
    nodes = range(dataset.num_nodes)
    return gm.LinkNeighborLoader, {
        "edge_label_index": [choice.choices(nodes, k=400), choice.choices(nodes, k=400)],
        "ids": choice.choice(["internal", "external"]),
        "neg_sampling": choice.choice([None, "binary", ("binary", 0.5), ("triplet", 3)]),
        "batch_size": choice.choice([4, 16, 40]),  # with negatives, as many seeds as above
    }


def random_loader(dataset, choice):
    loader, inputs = random_inputs(dataset, choice)
    return loader(
        dataset,
        choice.choice([[3], [5, 5], [2, -1]]),
        **inputs,
        shuffle=choice.random() < 0.5,
        drop_last=choice.random() < 0.5,
        disjoint=choice.random() < 0.2,
        edge_features=choice.choice([[], ["w"]]),
        memory=choice.choice([0, "20KiB", "100KiB", "1GiB"]),
        window=choice.choice([1, 3, 16, 63]),
        prefetch=choice.choice([1, 2, 5]),
        reader=choice.choice(["auto", "pread", "uring", "mapped"]),
        seed=choice.randrange(1000),
    )


def take_some(campaign, dataset, loader, choice):
    """A loop that is left at a random place, and perhaps gone on with."""
    kept = []
    leave_at = choice.randrange(len(loader) + 5)
    for batch in loader:
        check_batch(batch, dataset)
        campaign.count("batches")
        if choice.random() < 0.1:
            kept.append(batch)
        if choice.random() < 0.02:
            time.sleep(0.01)  # the queue of finished batches fills up
            campaign.count("waits")
        if batch.number == leave_at:
            campaign.count("early exits")
            break
    if choice.random() < 0.3:
        other = random_loader(dataset, choice)
        state = loader.state_dict()
        place = {"epoch": state["epoch"], "batch": min(state["batch"], len(other))}
        other.load_state_dict({**other.state_dict(), **place})
        for batch, _ in zip(other, range(5), strict=False):
            check_batch(batch, dataset)
            campaign.count("batches")
        campaign.count("resumed")
    for batch in kept:
        check_batch(batch, dataset)
    if choice.random() < 0.5:
        loader.close()


def take_while_it_breaks(campaign, choice, private, way):
    """A loop over files of its own, which are truncated or vanish in the middle of it."""
    shutil.copytree(campaign.folder / "given", private, dirs_exist_ok=True)
    dataset = gm.Dataset(private)
    loader = gm.NeighborLoader(
        dataset, [5, 5], batch_size=16, memory=0, window=choice.choice([1, 4]), reader="pread"
    )
    try:
        for batch in loader:
            check_batch(batch, dataset)
            campaign.count("batches")
            if batch.number == 3:
                if way == "truncated":
                    os.truncate(dataset.features["x"].path, 65536)
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
        dataset = gm.Dataset(campaign.folder / choice.choice(["hot", "given"]))
        loader = random_loader(dataset, choice)
        for _ in range(choice.choice([1, 1, 3])):
            take_some(campaign, dataset, loader, choice)
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
