"""`graphmount info FILE…`: what is in a file or dataset, as a table or as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._dataset.description import named_files
from graphmount._sources.graph_files.mounted import FEATURES_MAGIC
from graphmount._support.files.regular_files import open_regular
from graphmount._support.sizes import format_bytes
from graphmount.cli.output import complain, table

if TYPE_CHECKING:
    import argparse

    from rich.console import Console


_BAR_CHARACTERS = 32


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "info",
        help="show what is in a file or dataset",
        description="Shows counts, dtypes, sections, sizes and the distribution of degrees; of the "
        "folder of a dataset, its description and then all of its files.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a .gl or .gd file, or the folder of a dataset"
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    facts: list[dict[str, Any]] = []
    status = 0
    waiting = list(options.files)
    while waiting:
        path = waiting.pop(0)
        try:
            if os.path.isdir(path):
                dataset = gm.Dataset(path)
                waiting = _files_of(dataset) + waiting
                facts.append(_dataset_facts(dataset))
            else:
                facts.append(_facts(path))
        except (gm.errors.GraphmountError, OSError) as error:
            # The other files are still worth a look.
            complain(error)
            status = 2
    if options.json:
        print(json.dumps(facts, indent=2))
        return status
    from rich.console import Console  # not needed for --json

    console = Console(highlight=False)
    for number, file in enumerate(facts):
        if number:
            console.print()
        _show(file, console)
    return status


def _facts(path: str) -> dict[str, Any]:
    with open_regular(path) as file:
        is_features = file.read(len(FEATURES_MAGIC)) == FEATURES_MAGIC
    return _feature_facts(gm.FeatureStore(path)) if is_features else _graph_facts(gm.Graph(path))


def _file_facts(handle: gm.Graph | gm.FeatureStore) -> dict[str, Any]:
    return {
        "path": handle.path,
        "file_bytes": handle.file_bytes,
        "resident_bytes": handle.resident_bytes(),
        "order": handle.order,
        "sections": [dataclasses.asdict(section) for section in handle.sections],
    }


def _graph_facts(graph: gm.Graph) -> dict[str, Any]:
    node_id_type = graph.node_id_type
    # An undirected graph has the same degrees in both directions.
    directions = graph.directions if graph.directed else graph.directions[:1]
    return {
        "kind": "graph",
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "directed": graph.directed,
        "directions": graph.directions,
        "has_weights": graph.has_weights,
        "has_timestamps": graph.has_timestamps,
        "node_ids": None if node_id_type is None else node_id_type.__name__,
        "bytes_per_edge": graph.file_bytes / graph.num_edges if graph.num_edges else None,
        "degrees": {
            direction: dataclasses.asdict(graph.degree_summary(direction=direction))
            for direction in directions
        },
    } | _file_facts(graph)


def _feature_facts(store: gm.FeatureStore) -> dict[str, Any]:
    item_bytes = 2 if store.dtype == "bfloat16" else store.dtype.itemsize
    return {
        "kind": "features",
        "shape": store.shape,
        "dtype": str(store.dtype),
        "row_bytes": item_bytes * math.prod(store.shape[1:]),
        "quantized": None if store.scales is None else "column",
    } | _file_facts(store)


def _show(facts: dict[str, Any], console: Console) -> None:
    console.print(facts["path"], style="bold", markup=False, soft_wrap=True)
    if facts["kind"] == "dataset":
        console.print(table(_dataset_rows(facts)))
        for note in facts["notes"]:
            console.print(f"  {note}", markup=False, soft_wrap=True)
        return
    rows = _graph_rows(facts) if facts["kind"] == "graph" else _feature_rows(facts)
    resident = facts["resident_bytes"]
    size = format_bytes(facts["file_bytes"])
    if resident is not None:
        size += f", {format_bytes(resident)} of it in the page cache"
    rows.append(("size", size))
    rows.append(("order", f"{facts['order']:#x}" if facts["order"] else "that of the source"))
    console.print(table(rows))
    for direction, degrees in facts.get("degrees", {}).items():
        _show_degrees(direction if facts["directed"] else None, degrees, console)
    console.print()
    sections = [
        (
            section["name"],
            section["dtype"],
            f"{section['shape'][0]:,}"
            + (f" x {section['shape'][1]:,}" if section["shape"][1] != 1 else ""),
            format_bytes(section["num_bytes"]),
            f"{section['offset']:,}",
        )
        for section in facts["sections"]
    ]
    header = ("section", "dtype", "items", "size", "at byte")
    console.print(table(sections, header=header, right=(2, 3, 4)))


def _dataset_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    names = {kind: ", ".join(facts[kind]) for kind in ("features", "edge_features", "splits")}
    rows = [
        ("dataset", f"of graphmount {facts['graphmount']}"),
        ("nodes", f"{facts['num_nodes']:,}, in the order {facts['order']!r}"),
        ("edges", f"{facts['num_edges']:,}"),
        ("features", names["features"]),
        ("edge features", names["edge_features"]),
        ("labels", "yes" if facts["labels"] else ""),
        ("splits", names["splits"]),
        ("size", format_bytes(facts["file_bytes"])),
    ]
    return [(name, value) for name, value in rows if value]


def _graph_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lists = (
        "one copy for both directions" if not facts["directed"] else "+".join(facts["directions"])
    )
    rows = [
        ("graph", f"{'directed' if facts['directed'] else 'undirected'}, neighbor lists: {lists}"),
        ("nodes", f"{facts['num_nodes']:,}"),
        ("edges", f"{facts['num_edges']:,}"),
    ]
    if facts["bytes_per_edge"] is not None:
        rows.append(("bytes per edge", f"{facts['bytes_per_edge']:.2f}"))
    extras = [
        name
        for name, there in (
            ("weights", facts["has_weights"]),
            ("timestamps", facts["has_timestamps"]),
            (f"external node ids ({facts['node_ids']})", facts["node_ids"]),
        )
        if there
    ]
    return [*rows, ("with", ", ".join(extras))] if extras else rows


def _feature_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    kind = "matrix" if len(facts["shape"]) == 2 else "vector"
    shape = " x ".join(f"{size:,}" for size in facts["shape"])
    rows = [
        ("features", f"{kind} of {shape}, {facts['dtype']}"),
        ("bytes per row", f"{facts['row_bytes']:,}"),
    ]
    if facts["quantized"] is not None:
        rows.append(("quantized", "a scale for each column; value = int8 x scale"))
    return rows


def _show_degrees(direction: str | None, degrees: dict[str, Any], console: Console) -> None:
    name = "degrees" if direction is None else f"{direction}-degrees"
    console.print(
        f"\n{name}: mean {degrees['mean']:.2f}, median {degrees['median']:,}, "
        f"90 % up to {degrees['ninety_percent']:,}, 99 % up to "
        f"{degrees['ninety_nine_percent']:,}, largest {degrees['largest']:,}, "
        f"{degrees['isolated']:,} isolated nodes",
        soft_wrap=True,
    )
    most = max((count for _, _, count in degrees["histogram"]), default=0)
    rows = [
        (
            f"{low:,}" if low == high else f"{low:,} - {high:,}",
            f"{count:,}",
            # Rounded up, so that no degree that occurs looks as if it did not.
            _bar_character(console) * -(-count * _BAR_CHARACTERS // most) if most else "",
        )
        for low, high, count in degrees["histogram"]
    ]
    console.print(table(rows, header=("degree", "nodes", ""), right=(0, 1)))


def _bar_character(console: Console) -> str:
    try:
        "█".encode(console.encoding)
    except UnicodeEncodeError:
        return "#"
    return "█"


def _files_of(dataset: gm.Dataset) -> list[str]:
    """All files of a dataset: the graph first, then tables, labels and splits.

    Args:
        dataset: The dataset.
    """
    return [os.path.join(dataset.path, file) for _, _, file in named_files(dataset.description)]


def _dataset_facts(dataset: gm.Dataset) -> dict[str, Any]:
    """What `dataset.json` says, and the size of all files.

    Args:
        dataset: The dataset.
    """
    described = dataset.description
    return {
        "kind": "dataset",
        "path": dataset.path,
        "num_nodes": dataset.num_nodes,
        "num_edges": dataset.num_edges,
        "order": described.get("order"),
        "features": sorted(described["features"]),
        "edge_features": sorted(described["edge_features"]),
        "labels": described["labels"] is not None,
        "splits": sorted(described["splits"]),
        "notes": described.get("notes", []),
        "graphmount": described.get("graphmount"),
        "file_bytes": sum(os.path.getsize(file) for file in _files_of(dataset)),
    }
