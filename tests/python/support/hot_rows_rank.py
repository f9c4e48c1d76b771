"""One process of `test_shared_rows`: makes a loader, says what it has, and waits to be ended."""

from __future__ import annotations

import json
import sys

import graphmount as gm


def smaps():
    """What this process takes of memory, in bytes, by the names that the system has for it."""
    found = {}
    with open("/proc/self/smaps_rollup") as lines:
        for line in lines:
            name, _, rest = line.partition(":")
            if rest.strip().endswith("kB"):
                found[name] = int(rest.split()[0]) * 1024
    return found


def say(facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main():
    folder, rank, memory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    loader = gm.NeighborLoader(
        gm.Dataset(folder),
        [2],
        input_nodes="train",
        batch_size=64,
        memory=memory,
        seed=1,
        rank=rank,
        world_size=2,
    )
    total = sum(float(batch.features["x"].sum()) for batch in loader)
    say({"total": total, "shared": loader.stats().tables["x"].shared_bytes})
    for _ in sys.stdin:  # a line asks for the memory that it takes now
        say(smaps())


if __name__ == "__main__":
    main()
