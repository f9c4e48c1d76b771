"""The process that `bench_mount` asks what one open adds to its memory; prints JSON.

Counts come from /proc/self/smaps_rollup, which is exact; the totals in /proc/self/status lag by up
to some hundred KiB, as much as what is to be measured.
"""

from __future__ import annotations

import json
import sys

import graphmount as gm


def process_memory() -> dict[str, int]:
    """Anonymous and all resident memory of this process in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        table = dict(line.split(":", 1) for line in file.readlines()[1:])
    return {
        "anonymous": int(table["Anonymous"].split()[0]) * 1024,
        "resident": int(table["Rss"].split()[0]) * 1024,
    }


def disk_read_bytes() -> int:
    """What this process has made the disk deliver so far."""
    with open("/proc/self/io") as file:
        return int(dict(line.split(":") for line in file)["read_bytes"])


def main() -> None:
    path = sys.argv[1]
    kind = gm.Graph if path.endswith(".gl") else gm.FeatureStore
    process_memory()  # so that its own buffers are there already
    disk_read_bytes()
    before, read_before = process_memory(), disk_read_bytes()
    handle = kind(path)
    after, read_after = process_memory(), disk_read_bytes()
    added = {name: after[name] - before[name] for name in before}
    json.dump({**added, "disk_read": read_after - read_before}, sys.stdout)
    handle.close()


if __name__ == "__main__":
    main()
