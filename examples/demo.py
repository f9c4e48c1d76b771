"""What `make demo` runs: three ways to train on a dataset that is larger than the memory they get.

A graph with planted communities is made and compiled. Then `demo_training` trains on it, one way
after another, each in a process of its own with the same limit of memory, page cache included: PyG
with everything in memory, a loop over a mapped tensor, and graphmount. In the end, one picture and
one table show them side by side.

The limit is a control group of the system. Where there is none to be had, the first way is left
out: without a limit, it would only fill the memory of the machine.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from communities import Communities, make_communities
from demo_outcome import Outcome, read_outcome, table_of
from demo_ways import BATCH_SIZE, WAYS, has_pyg, title_of

_HERE = Path(__file__).parent


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/, demo.png and records")
    parser.add_argument("--nodes", type=int, default=4_000_000, help="how many nodes")
    parser.add_argument("--columns", type=int, default=128, help="features of a node")
    parser.add_argument("--limit", type=int, default=1024, help="MiB of each process that trains")
    parser.add_argument("--memory", default="192MiB", help="of that, for caches of graphmount")
    parser.add_argument("--train-nodes", type=int, default=60_000, help="how many to train on")
    parser.add_argument("--epochs", type=int, default=2, help="how long graphmount trains")
    parser.add_argument("--seconds", type=float, default=30, help="how long the others train")
    return parser.parse_args()


class Runner:
    """Runs `demo_training` with the limit of memory, or without where there cannot be one."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        # The benchmarks are part of the installation, as `graphmount bench` needs them.
        self._memcap: Any = importlib.import_module("graphmount.benchmarks.harness.memcap")
        self._page_cache: Any = importlib.import_module("graphmount.benchmarks.harness.page_cache")
        self._options = options
        self._console = console
        self.is_limited = self._try_limit()

    def run(self, way: str) -> Outcome:
        """Trains one way, and says what became of it."""
        options, title = self._options, title_of(way)
        for suffix in ("json", "jsonl"):
            (options.folder / f"{way}.{suffix}").unlink(missing_ok=True)  # of an earlier demo
        command = [sys.executable, str(_HERE / "demo_training.py"), str(options.folder)]
        command += ["--way", way, "--memory", options.memory, "--epochs", str(options.epochs)]
        command += ["--seconds", str(options.seconds), "--started", str(time.time())]
        begun = time.monotonic()
        if self.is_limited:
            # Cold, as far as the dataset goes: pages that others have read are charged to nobody.
            for file in (options.folder / "dataset").rglob("*"):
                if file.is_file():
                    self._page_cache.evict(str(file))
            done = self._memcap.run_capped(command, options.limit << 20, warm=True)
            status, seconds = done.status, done.seconds
        else:
            status = subprocess.run(command, check=False).returncode  # noqa: S603
            seconds = time.monotonic() - begun
        outcome = read_outcome(options.folder, way, title, status=status, seconds=seconds)
        self._console.print(f"{title}: {outcome.headline}".replace("\n", " "))
        return outcome

    def _try_limit(self) -> bool:
        try:
            self._memcap.run_capped(["true"], self._options.limit << 20, warm=True)
        except self._memcap.UnavailableError as error:
            self._console.print(
                f"No limit of memory can be set here: {error}.\n"
                "So all of the dataset may stay in the page cache, and the mapped tensor is as "
                "fast as memory. PyG with everything in memory is left out: nothing would stop "
                "it from filling the memory of this machine."
            )
            return False
        return True


def make_dataset(options: argparse.Namespace, console: Console) -> tuple[str, int]:
    """Makes the dataset. Returns what to say of it, and how many batches an epoch has."""
    begun = time.monotonic()
    shape = Communities(
        num_nodes=options.nodes,
        num_communities=16,
        num_columns=options.columns,
        signal=1.0,
        train_share=options.train_nodes / options.nodes,
        test_share=options.train_nodes / options.nodes / 2,
    )
    dataset = make_communities(options.folder, shape, bars=None)
    size = dataset.graph.file_bytes + dataset.features["x"].file_bytes
    made = f"{dataset.num_nodes:,} nodes, {dataset.num_edges:,} edges, {size / 2**30:.2f} GiB"
    num_batches = -(-len(dataset.splits["train"]) // BATCH_SIZE)
    console.print(f"{made}, in {time.monotonic() - begun:.0f} s")
    return made, num_batches


def main() -> None:
    """Makes the dataset, trains three ways, draws, and prints the table."""
    options = parse_options()
    console = Console(soft_wrap=True)
    begun = time.monotonic()
    console.rule("a graph with communities")
    made, epoch_batches = make_dataset(options, console)
    runner = Runner(options, console)
    if not has_pyg():
        console.print("PyG is not installed, so plain torch loads everything into memory instead.")
    outcomes = []
    for way in WAYS:
        if way != "memory" or runner.is_limited:
            console.rule(title_of(way))
            outcomes.append(runner.run(way))
    if outcomes[-1].was_killed:
        sys.exit(f"graphmount needs more than {options.limit} MiB here; give it a higher --limit")
    memory = f"{options.limit:,} MiB of memory" if runner.is_limited else "no limit of memory"
    heading = f"Training on {made}, with {memory}"
    console.rule("side by side")
    try:
        from demo_plot import draw
    except ImportError as error:
        console.print(f"no picture without matplotlib, which `make demo` installs: {error}")
    else:
        picture = options.folder / "demo.png"
        draw(outcomes, picture, heading=heading, limit=options.limit if runner.is_limited else None)
        console.print(f"the picture: {picture}")
    console.print(table_of(outcomes, heading=heading, epoch_batches=epoch_batches))
    console.print(f"all of it took {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
