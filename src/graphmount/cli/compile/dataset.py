"""`graphmount compile dataset --edges … OUT`: a graph, tables, labels and splits to a dataset.

A table is written as PATH:COLUMNS, such as `people.csv:age,height`; without a colon, all columns of
the file are taken. A path that exists is one, whatever colons are in it.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._sources.kinds import TABLE_KINDS, kind_of
from graphmount._sources.paths import expand
from graphmount._support.shown import shown
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = """examples:
  graphmount compile dataset --edges edges.csv --features x=x.npy --labels y.npy \\
      --splits train=train.txt --splits test=test.txt papers
  graphmount compile dataset --edges follows.csv:who,whom --ids map --key name \\
      --features age=people.csv:age --labels people.csv:team --splits people.csv:fold people
"""
_TABLES = f"""
--key COLUMN          the column that says which node a row belongs to, in all tables of nodes that
                      have columns (default: rows are in order)
--dtype NAME          how to store features: float16, bfloat16, ... (default: as they are)
--missing NUMBER      the value for nodes without a row, or without a label (default: error)
--weights COLUMN      the column with the weights of edges, or an .npy file of them
--timestamps COLUMN   the column with the times of edges, or an .npy file of them
{shared.TEXT}
{shared.ON_ERROR}
"""
_DATASET = f"""
--order {{hot,given}} hot numbers the nodes by how often sampling meets them; given leaves them as
                      they are (default: hot)
--undirected          every edge runs both ways
{shared.NEIGHBORS}
--ids {{dense,map}}   dense takes ids as they are, 0, 1, 2, ...; map numbers any integers or strings
--key-type {{int,str}} with --ids map, what ids of text files are (default: found)
--num-nodes N         (default: the rows of the tables, or the largest id plus one)
--dedup {{first,sum}} of several edges between two nodes, keep the first, or add up their weights
--self-loops {{keep,drop}} (default: keep)
--source-rows         keep the row of each edge, which loaders can give as its id
--overwrite           replace the dataset at OUT
"""
_TEXT_OPTIONS = ("delimiter", "header", "comments")


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "dataset",
        help="a dataset: a graph, tables, labels and splits in one order",
        usage="graphmount compile dataset --edges PATH[:SRC,DST] [OPTIONS] OUT",
        description="Compiles edges, tables of nodes and edges, labels and splits to a folder.\n"
        "A PATH is a file, a folder or a quoted pattern; behind a colon may stand\n"
        "columns of it, names or numbers from 0 on.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", metavar="OUT", help="the folder to write")
    group = parser.add_argument_group("parts, of which all may be given several times")
    for flag, value, text in (
        ("--edges", "PATH[:SRC,DST]", "the edges; several are read one after the other"),
        ("--features", "NAME=PATH[:A,B,...]", "a table of the nodes"),
        ("--edge-features", "NAME=PATH[:A,B,...]", "a table of the edges"),
        ("--labels", "PATH[:COLUMN]", "the labels of the nodes: numbers, or text"),
        ("--splits", "NAME=PATH", "a file of ids; or PATH:COLUMN, or a COLUMN of the labels"),
    ):
        group.add_argument(
            flag, action="append", metavar=value, help=text, required=flag == "--edges"
        )
    shared.add_options(parser, "reading", _TABLES)
    shared.add_options(parser, "the dataset", _DATASET)
    shared.add_work_options(parser)
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    given = shared.arguments_of(options)
    text = _taken(given, *_TEXT_OPTIONS)
    key, missing, dtype = _taken(given, "key"), _taken(given, "missing"), _taken(given, "dtype")
    edges = _taken(given, "weights", "timestamps")
    features = _named(given.pop("features", []), "features", text, key, missing | dtype)
    edge_features = _named(given.pop("edge_features", []), "edge-features", text, {}, dtype)
    labels = given.pop("labels", None)
    done = gm.compile_dataset(
        options.out,
        edges=_edges(given.pop("edges"), text, edges),
        features=features,
        edge_features=edge_features,
        labels=None if labels is None else _labels(labels, text, key, missing),
        splits=_splits(given.pop("splits", []), text, key),
        directed=not options.undirected,
        **given,
    )
    facts = [messages.count(done.num_nodes, "node"), messages.count(done.num_edges, "edge")]
    facts += [f"features {name!r}" for name in features]
    facts += [f"edge_features {name!r}" for name in edge_features]
    dataset = gm.Dataset(done.path)
    if labels is not None:
        classes = dataset.classes
        facts.append("labels" + ("" if classes is None else f" of {len(classes):,} classes"))
    facts += [f"split {name!r}" for name in dataset.description["splits"]]
    messages.show(done, facts, as_json=options.json, num_things=done.num_edges, thing="edges")
    return 0


def _taken(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Takes some options out of those that are given."""
    return {name: given.pop(name) for name in names if name in given}


def _split_path(text: str) -> tuple[str, str | None]:
    """A path, and what stands behind the colon."""
    path, colon, columns = text.rpartition(":")
    if not colon or not path or not columns or os.path.exists(text):
        return text, None
    return path, columns


def _table(
    text: str, reading: dict[str, Any], key: dict[str, Any], storing: dict[str, Any]
) -> gm.Table:
    """The table that an option means, with those other options that mean something to its file."""
    path, columns = _split_path(text)
    kind = kind_of(expand(path)[0])
    chosen: dict[str, Any] = {} if columns is None else {"columns": shared.columns(columns)}
    if kind == "text":
        chosen |= reading
    if kind in ("text", *TABLE_KINDS):
        chosen |= key
    return gm.Table(source=path, **chosen, **storing)


def _named(
    given: Sequence[str],
    flag: str,
    reading: dict[str, Any],
    key: dict[str, Any],
    storing: dict[str, Any],
) -> dict[str, gm.Table]:
    tables: dict[str, gm.Table] = {}
    for text in given:
        name, path = _named_path(text, flag)
        if name in tables:
            raise ValueError(f"--{flag} {name}=… is there twice; give each table its own name")
        tables[name] = _table(path, reading, key, storing)
    return tables


def _named_path(text: str, flag: str) -> tuple[str, str]:
    name, sign, path = text.partition("=")
    if not (name and sign and path):
        raise ValueError(f"--{flag} {shown(text)} is not NAME=PATH; write --{flag} x=rows.npy")
    return name, path


def _edges(given: Sequence[str], reading: dict[str, Any], others: dict[str, Any]) -> gm.EdgeTable:
    parts = [_split_path(text) for text in given]
    columns = parts[0][1]
    if any(other != columns for _, other in parts):
        raise ValueError("--edges has several files with other columns; give all the same ones")
    paths = [path for path, _ in parts]
    chosen: dict[str, Any] = {} if columns is None else {"columns": shared.ends(columns)}
    if kind_of(expand(paths[0])[0]) == "text":
        chosen |= reading
    return gm.EdgeTable(source=paths[0] if len(paths) == 1 else paths, **chosen, **others)


def _labels(
    given: Sequence[str], reading: dict[str, Any], key: dict[str, Any], storing: dict[str, Any]
) -> gm.Table:
    if len(given) > 1:
        raise ValueError("--labels is there twice, and a node has one label; give one of them")
    return _table(given[0], reading, key, storing)


def _splits(
    given: Sequence[str], reading: dict[str, Any], key: dict[str, Any]
) -> dict[str, str] | gm.Table | str | None:
    """Files of ids by name; or one column of all splits."""
    if len(given) == 1 and "=" not in given[0]:
        text = given[0]
        is_file = ":" in text or os.path.exists(text)
        return _table(text, reading, key, {}) if is_file else text
    splits: dict[str, str] = {}
    for text in given:
        name, path = _named_path(text, "splits")
        if name in splits:
            raise ValueError(f"--splits {name}=… is there twice; give each split its own name")
        splits[name] = path
    return splits or None
