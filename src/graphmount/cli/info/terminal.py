"""What `graphmount info` prints on a terminal: tables, and bars of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._support.sizes import format_bytes
from graphmount.cli.output import table

if TYPE_CHECKING:
    from rich.console import Console

_BAR_CHARACTERS = 32
#: Of more classes, the largest are shown.
_MOST_CLASSES = 20
#: Of more columns or classes, the first are named.
_MOST_NAMES = 8
_LONGEST_NAME = 60
SECTION_HEADER = ("section", "dtype", "items", "size", "at byte")


def show(facts: dict[str, Any], console: Console) -> None:
    """Prints what is known of one file or dataset.

    Args:
        facts: What `facts` found.
        console: Where to print.
    """
    console.print(facts["path"], style="bold", markup=False, soft_wrap=True)
    if facts["kind"] == "dataset":
        console.print(table(dataset_rows(facts)))
        for note in facts["notes"]:
            console.print(f"  {note}", markup=False, soft_wrap=True)
        return
    console.print(table(file_rows(facts)))
    if facts.get("class_counts"):
        console.print()
        rows = class_rows(facts["class_counts"], most=_MOST_CLASSES)
        console.print(table(rows, header=("class", "nodes"), right=(1,)))
    for direction, degrees in facts.get("degrees", {}).items():
        _show_degrees(direction if facts["directed"] else None, degrees, console)
    console.print()
    sections = section_rows(facts["sections"])
    console.print(table(sections, header=SECTION_HEADER, right=(2, 3, 4)))


def section_rows(sections: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """A row for each section of a file, under `SECTION_HEADER`."""
    return [
        (
            section["name"],
            section["dtype"],
            f"{section['shape'][0]:,}"
            + (f" x {section['shape'][1]:,}" if section["shape"][1] != 1 else ""),
            format_bytes(section["num_bytes"]),
            f"{section['offset']:,}",
        )
        for section in sections
    ]


def dataset_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of what is known of a dataset.

    Args:
        facts: What `dataset_facts` found.
    """
    if "node_types" in facts:
        return _typed_rows(facts)
    names = {kind: ", ".join(facts[kind]) for kind in ("features", "edge_features", "splits")}
    rows = [
        ("dataset", f"of graphmount {facts['graphmount']}"),
        ("nodes", f"{facts['num_nodes']:,}, in the order {facts['order']!r}"),
        ("edges", f"{facts['num_edges']:,}"),
        ("features", names["features"]),
        ("edge features", names["edge_features"]),
        ("labels", _label_words(facts)),
        ("splits", names["splits"]),
        ("size", format_bytes(facts["file_bytes"])),
    ]
    return [(name, value) for name, value in rows if value]


def _typed_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("dataset", f"of many node types, of graphmount {facts['graphmount']}"),
        ("nodes", f"{facts['num_nodes']:,} in all, in the order {facts['order']!r}"),
        ("edges", f"{facts['num_edges']:,} in all"),
    ]
    for name, nodes in facts["node_types"].items():
        parts = [f"{nodes['num_nodes']:,} nodes"]
        for kind in ("features", "splits"):
            parts += [f"{kind} {', '.join(nodes[kind])}"] if nodes[kind] else []
        parts += ["labels"] if nodes["labels"] else []
        parts += ["times"] if nodes["timestamps"] else []
        rows.append((f"type {name!r}", "; ".join(parts)))
    for entry in facts["edge_types"]:
        tables = entry["edge_features"]
        with_tables = f"; features {', '.join(tables)}" if tables else ""
        rows.append((" - ".join(entry["relation"]), f"{entry['num_edges']:,} edges{with_tables}"))
    return [*rows, ("size", format_bytes(facts["file_bytes"]))]


def file_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of what is known of a file.

    Args:
        facts: What `file_facts` found.
    """
    if facts["kind"] == "node ids":
        rows = [("ids", f"of {facts['num_nodes']:,} nodes of one type ({facts['node_ids']})")]
    else:
        rows = _graph_rows(facts) if facts["kind"] == "graph" else _feature_rows(facts)
    resident = facts["resident_bytes"]
    size = format_bytes(facts["file_bytes"])
    if resident is not None:
        size += f", {format_bytes(resident)} of it in the page cache"
    rows.append(("size", size))
    if facts.get("role") != "splits":  # ids, and no rows of nodes
        rows.append(("order", f"{facts['order']:#x}" if facts["order"] else "that of the source"))
    return rows


def class_rows(classes: list[dict[str, Any]], *, most: int) -> list[tuple[str, str]]:
    """Classes and how many nodes they have; the largest first.

    Args:
        classes: What `label_facts` found.
        most: How many to show; the others are summed up in one row.
    """
    rows = [(class_name(each), f"{each['nodes']:,}") for each in classes[:most]]
    others = classes[most:]
    if others:
        nodes = sum(each["nodes"] for each in others)
        rows.append((f"{len(others):,} others", f"{nodes:,}"))
    return rows


def class_name(found: dict[str, Any]) -> str:
    """What to call a class: as the source does, else by its number.

    Args:
        found: One of those that `label_facts` found.
    """
    if found["name"] is not None:
        return _clean(found["name"])
    return f"{found['label']} (none)" if found["label"] == -1 else str(found["label"])


def _named(names: list[str]) -> str:
    """The first few names."""
    more = f", … {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(_clean, names[:_MOST_NAMES])) + more


def _clean(name: str) -> str:
    """A name of a file as a line may have it: short, and without what moves a terminal's cursor."""
    name = name if name.isprintable() else ascii(name)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _label_words(facts: dict[str, Any]) -> str:
    if not facts["labels"]:
        return ""
    classes = facts.get("classes")
    return "yes" if classes is None else f"{len(classes):,} classes: {_named(classes)}"


def degree_words(direction: str | None, degrees: dict[str, Any]) -> str:
    """One line about the degrees of a graph.

    Args:
        direction: "in" or "out"; None for an undirected graph.
        degrees: The fields of a `DegreeSummary`.
    """
    name = "degrees" if direction is None else f"{direction}-degrees"
    return (
        f"{name}: mean {degrees['mean']:.2f}, median {degrees['median']:,}, "
        f"90 % up to {degrees['ninety_percent']:,}, 99 % up to "
        f"{degrees['ninety_nine_percent']:,}, largest {degrees['largest']:,}, "
        f"{degrees['isolated']:,} isolated nodes"
    )


def degree_range(low: int, high: int) -> str:
    """A range of degrees in words.

    Args:
        low: The least.
        high: The most.
    """
    return f"{low:,}" if low == high else f"{low:,} - {high:,}"


def _graph_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lists = (
        "one copy for both directions" if not facts["directed"] else "+".join(facts["directions"])
    )
    rows = [
        ("graph", f"{'directed' if facts['directed'] else 'undirected'}, neighbor lists: {lists}"),
        *(
            (name, f"{facts[key]:,}")
            for name, key in (
                ("nodes", "num_nodes"),
                ("sources", "num_sources"),
                ("destinations", "num_destinations"),
            )
            if key in facts
        ),
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
    role, name = facts.get("role", "features"), facts.get("name")
    if role == "splits":
        ids = f"{facts['shape'][0]:,} nodes, by internal ids of the dataset ({facts['dtype']})"
        return [(f"split {name!r}", ids)]
    called = role.replace("_", " ") if name is None else f"{role.replace('_', ' ')} {name!r}"
    rows = [(called, f"{kind} of {shape}, {facts['dtype']}")]
    if facts.get("column_names"):
        rows.append(("columns", _named(facts["column_names"])))
    if facts.get("class_counts"):
        rows.append(("classes", f"{len([c for c in facts['class_counts'] if c['label'] >= 0]):,}"))
    rows.append(("bytes per row", f"{facts['row_bytes']:,}"))
    if facts["quantized"] is not None:
        rows.append(("quantized", "a scale for each column; value = int8 x scale"))
    return rows


def _show_degrees(direction: str | None, degrees: dict[str, Any], console: Console) -> None:
    console.print(f"\n{degree_words(direction, degrees)}", soft_wrap=True)
    most = max((count for _, _, count in degrees["histogram"]), default=0)
    rows = [
        (
            degree_range(low, high),
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
