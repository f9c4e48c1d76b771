"""The process that `bench_mount` asks what one open adds to its memory; prints JSON."""

from __future__ import annotations

import json
import sys

import graphmount as gm

from ..harness.process_counters import disk_read_bytes, process_memory


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
