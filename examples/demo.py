"""What `make demo` runs: trains on a dataset that is larger than the memory it is given.

A graph with planted communities is made and compiled. Then `demo_training` trains on it in a
process of its own, whose memory, page cache included, a control group limits to a fraction of the
dataset. Where there are no control groups to be had, it runs without, and its loader keeps within
its budget as it always does. In the end, what happened over time is drawn into demo.png.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

from communities import Communities, make_communities

_HERE = Path(__file__).parent
# What `memcap` ends with where it cannot limit memory; it has said why.
_NO_LIMIT = 125


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/, history.json, demo.png")
    parser.add_argument("--nodes", type=int, default=4_000_000, help="how many nodes")
    parser.add_argument("--columns", type=int, default=128, help="features of a node")
    parser.add_argument("--limit", type=int, default=1024, help="MiB of the process that trains")
    parser.add_argument("--memory", default="192MiB", help="of that, for caches of rows")
    parser.add_argument("--train-nodes", type=int, default=60_000, help="how many to train on")
    parser.add_argument("--epochs", type=int, default=3, help="how long to train")
    return parser.parse_args()


def train(options: argparse.Namespace, console: Console) -> bool:
    """Runs the training with little memory. Returns whether there was a limit."""
    command = [sys.executable, str(_HERE / "demo_training.py"), str(options.folder)]
    command += ["--memory", options.memory, "--epochs", str(options.epochs)]
    memcap = [sys.executable, str(_HERE.parent / "benchmarks" / "harness" / "memcap.py")]
    limited = [*memcap, f"{options.limit}M", "--", *command]
    status = subprocess.run(limited, check=False).returncode  # noqa: S603
    if status == _NO_LIMIT:
        console.print(
            "So the process has no limit; its loader still keeps to "
            f"{options.memory} for caches, and what it reads may stay in the page cache."
        )
        subprocess.run(command, check=True)  # noqa: S603
        return False
    if status:
        sys.exit(f"training ended with status {status}")
    return True


def main() -> None:
    """Makes the dataset, trains, and draws."""
    options = parse_options()
    console = Console(soft_wrap=True)
    begun = time.monotonic()
    console.rule("a graph with communities")
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
    console.print(
        f"{dataset.num_nodes:,} nodes, {dataset.num_edges:,} edges, {size / 2**30:.2f} GiB in "
        f"{time.monotonic() - begun:.0f} s; the process that trains may have {options.limit} MiB"
    )
    console.rule("training")
    is_limited = train(options, console)
    history = json.loads((options.folder / "history.json").read_text())
    try:
        from demo_plot import draw
    except ImportError as error:
        console.print(f"no plot without matplotlib, which `make demo` installs: {error}")
    else:
        plot = options.folder / "demo.png"
        draw(history, plot, limit=options.limit if is_limited else None)
        console.print(f"batches, caches and memory over time: {plot}")
    console.print(f"all of it took {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
