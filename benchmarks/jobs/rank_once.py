"""One of several processes that train together: what it sends in a step, and what memory it takes.

torchrun's variables say which one it is. The first one prints what all of them found, as JSON. What
a process sends is what the kernel counts for its own connections (TCP_INFO), so no other traffic is
in it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

import graphmount as gm
import graphmount.torch

if TYPE_CHECKING:
    from collections.abc import Sequence

_BYTES_ACKED = 120  # where struct tcp_info has what the other end has got
_WARM_STEPS = 3


def sent_bytes() -> int:
    """What all TCP connections of this process have sent so far."""
    total = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(name))) as found:
            if found.family in (socket.AF_INET, socket.AF_INET6):
                info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                if len(info) >= _BYTES_ACKED + 8:
                    total += struct.unpack_from("<Q", info, _BYTES_ACKED)[0]
    return total


def proportional_memory() -> dict[str, int]:
    """This process's part of the memory that it has, where what n share counts one nth."""
    found = {}
    with open("/proc/self/smaps_rollup") as lines:
        for line in lines:
            name, _, rest = line.partition(":")
            if name.startswith("Pss"):
                found[name] = int(rest.split()[0]) * 1024
    return found


def train(ranks: gm.torch.RankGroup, options: argparse.Namespace) -> dict[str, Any]:
    """What all ranks found in some steps; the model is gone when it returns."""
    torch.set_num_threads(1)
    dataset = gm.Dataset(options.path)
    columns = dataset.features["x"].shape[1]
    loader = gm.torch.NeighborLoader(
        dataset,
        [10, 5],
        input_nodes="train",
        batch_size=ranks.batch_size(options.global_batch),
        shuffle=True,
        memory=options.memory,
        seed=1,
    )
    ranks.require_same_data(loader)
    layers = [torch.nn.Linear(columns, options.width), torch.nn.Linear(options.width, 8)]
    inner = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
    gradient = sum(each.numel() * each.element_size() for each in inner.parameters())
    model: torch.nn.Module = inner
    if ranks.world_size > 1:
        model = DistributedDataParallel(inner)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sent, done, start = 0, 0, 0.0
    while done < _WARM_STEPS + options.steps:
        for batch in loader:
            if done == _WARM_STEPS:
                sent, start = sent_bytes(), time.perf_counter()
            loss = model(batch.x[: batch.num_seeds]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done == _WARM_STEPS + options.steps:
                break
    seconds = time.perf_counter() - start
    ranks.gather("done")  # so that all that was sent has arrived
    own = {
        "sent": (sent_bytes() - sent) / options.steps,
        "seconds": seconds / options.steps,
        "memory": proportional_memory(),
        "shared": loader.stats().tables["x"].shared_bytes,
    }
    return {"gradient": gradient, "ranks": ranks.gather(own)}


def as_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a job, as its caller wrote them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="the dataset")
    parser.add_argument("--memory", required=True)
    parser.add_argument("--global-batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--width", type=int, required=True, help="of the layer between")
    return parser.parse_args(arguments)


def main() -> int:
    options = as_options()
    with gm.torch.RankGroup(timeout=120) as ranks:
        found = train(ranks, options)
        if ranks.rank == 0:
            sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
