"""The process that says what a compiled graph holds, by graphmount's or GraphZero's own reader.

Prints JSON: how many nodes and edges, and a digest of the neighbor lists of every `--step`-th node.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from functools import partial
from typing import Any

import graphmount as gm

from ..data.edge_streams import digest_of_lists
from . import job_command


def read_facts(path: str, *, reader: str, step: int, directions: list[str]) -> dict[str, Any]:
    """Asks a process of its own, which may crash. Raises RuntimeError with its last words."""
    command = job_command("compiled_lists", path, "--reader", reader)
    command += ["--step", str(step), "--directions", *directions]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{reader} cannot read {path}: {run.stderr[-500:]}")
    facts: dict[str, Any] = json.loads(run.stdout)
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--reader", choices=("graphmount", "graphzero"), required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--directions", nargs="+", choices=("in", "out"), required=True)
    options = parser.parse_args()
    is_ours = options.reader == "graphmount"
    graph: Any = (
        gm.Graph(options.path)
        if is_ours
        else importlib.import_module("graphzero").Graph(options.path)
    )
    facts = {"num_nodes": graph.num_nodes, "num_edges": graph.num_edges}
    for name in options.directions:
        read = partial(graph.neighbors, direction=name) if is_ours else graph.get_neighbours
        facts[name] = digest_of_lists(range(0, graph.num_nodes, options.step), read)
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()
