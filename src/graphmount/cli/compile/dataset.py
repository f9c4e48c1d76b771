"""`graphmount compile dataset`: what a description file says, or what flags say, to a dataset.

With flags, it is one of one node type: a graph, tables, labels and splits.
A table is written as PATH:COLUMNS, such as `people.csv:age,height`; without a colon, all columns of
the file are taken. A path that exists is one, whatever colons are in it.
"""

from __future__ import annotations

import argparse
import errno
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._compile.dataset.no_such_file import may_be_column
from graphmount._compile.spec.description_file import read_description_file
from graphmount._sources.kinds import TABLE_KINDS, kind_of
from graphmount._sources.paths import expand
from graphmount._support.shown import shown
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EXAMPLES = """examples:
  graphmount compile dataset mag.toml mag
  graphmount compile dataset --edges edges.csv --features x=x.npy --labels y.npy \\
      --splits train=train.txt --splits test=test.txt papers
  graphmount compile dataset --edges follows.csv:who,whom --ids map --key name \\
      --features age=people.csv:age --labels people.csv:team --splits people.csv:fold people
"""
_TABLES = """
--key COLUMN          the column that says which node a row belongs to, in all tables of nodes that
                      have columns (default: rows are in order)
--dtype --missing --weights --timestamps --delimiter --header --comments --on-error
"""
_DATASET = """
--order --undirected --neighbors --ids --key-type --num-nodes --dedup --self-loops --source-rows
--overwrite
"""
_TEXT_OPTIONS = ("delimiter", "header", "comments")
#: Flags that go with a description, and count more than what it says.
_WITH_SPEC = ("order", "overwrite", "memory", "tmp", "progress")


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "dataset",
        help="a dataset: a graph, tables, labels and splits in one order",
        usage="graphmount compile dataset SPEC.toml [OPTIONS] [OUT]\n"
        "       graphmount compile dataset --edges PATH[:SRC,DST] [OPTIONS] OUT",
        description="Compiles edges, tables of nodes and edges, labels and splits to a folder.\n"
        "SPEC.toml describes all of it, also of many node types; with it go --order,\n"
        "--overwrite and the options of the work. Without it, a PATH is a file, a folder or\n"
        "a quoted pattern; behind a colon may stand columns of it, names or numbers from 0 on.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="[SPEC.toml] OUT",
        help="a file that describes the dataset, if there is one; and the folder to write, which "
        "that file may name as well",
    )
    group = parser.add_argument_group("parts, of which all may be given several times")
    for flag, value, text in (
        ("--edges", "PATH[:SRC,DST]", "the edges; several are read one after the other"),
        ("--features", "NAME=PATH[:A,B,...]", "a table of the nodes"),
        ("--edge-features", "NAME=PATH[:A,B,...]", "a table of the edges"),
        ("--labels", "PATH[:COLUMN]", "the labels of the nodes: numbers, or text"),
        ("--splits", "NAME=PATH", "a file of ids; or PATH:COLUMN, or a COLUMN of the labels"),
    ):
        group.add_argument(flag, action="append", metavar=value, help=text)
    shared.add_options(parser, "reading", _TABLES)
    shared.add_options(parser, "the dataset", _DATASET)
    shared.add_options(parser, "the work", "--memory --tmp --json --no-progress")
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    if options.edges is None:
        return _compile_described(options)
    if len(options.paths) != 1:
        raise ValueError(f"--edges … goes with one OUT, not with {', '.join(options.paths)}")
    given = shared.arguments_of(options)
    text = shared.taken(given, *_TEXT_OPTIONS)
    key, dtype = shared.taken(given, "key"), shared.taken(given, "dtype")
    of_nodes = text | key | shared.taken(given, "missing")
    of_edges = text | shared.taken(given, "weights", "timestamps")
    features = _tables(given.pop("features", []), "features", of_nodes | dtype)
    edge_features = _tables(given.pop("edge_features", []), "edge-features", text | dtype)
    labels = given.pop("labels", [])
    if len(labels) > 1:
        raise ValueError("--labels is there twice, and a node has one label; give one of them")
    done = gm.compile_dataset(
        options.paths[0],
        edges=_edges(given.pop("edges"), of_edges),
        features=features,
        edge_features=edge_features,
        labels=_table(labels[0], of_nodes) if labels else None,
        splits=_splits(given.pop("splits", []), text | key),
        directed=not options.undirected,
        **given,
    )
    facts = [f"features {name!r}" for name in features]
    facts += [f"edge_features {name!r}" for name in edge_features]
    dataset = gm.Dataset(done.path)
    if labels:
        classes = dataset.classes
        facts.append("labels" + ("" if classes is None else f" of {len(classes):,} classes"))
    facts += [f"split {name!r}" for name in dataset.description["splits"]]
    messages.show(done, facts, as_json=options.json)
    return 0


def _compile_described(options: argparse.Namespace) -> int:
    """Compiles what a description file says."""
    spec, *outs = options.paths
    if not spec.endswith(".toml"):
        raise ValueError(
            f"give --edges PATH, or a description: {shown(spec)} is no .toml file; see "
            "`graphmount compile dataset --help`"
        )
    options.has_flags = False  # messages are about what is in the file
    given = shared.arguments_of(options)
    for name, value in given.items():
        if name not in _WITH_SPEC and (value is not False or name == "header"):
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag} does not go with a description; write it into {spec}")
    if options.undirected:
        raise ValueError(f"--undirected does not go with a description; write it into {spec}")
    described = read_description_file(spec)
    if len(outs) > 1:
        raise ValueError(f"one folder is written, and these are {len(outs)}: {', '.join(outs)}")
    out = outs[0] if outs else described.out
    if out is None:
        raise ValueError(
            f'where to? {spec} has no out = "…"; write it there, or give OUT behind {spec}'
        )
    own = {name: given[name] for name in _WITH_SPEC if name in given}
    done = gm.compile_dataset(out, **(described.arguments | own))
    dataset = gm.Dataset(done.path)
    facts = []
    if isinstance(dataset, gm.TypedDataset):
        facts = [messages.count(len(dataset.nodes), "node type")]
        facts.append(messages.count(len(dataset.edges), "relation"))
    messages.show(done, facts, as_json=options.json)
    return 0


def _split_path(text: str) -> tuple[str, str | None]:
    """A path, and what stands behind the colon."""
    path, colon, columns = text.rpartition(":")
    if not colon or not path or not columns or os.path.exists(text):
        return text, None
    return path, columns


def _readable(path: str, given: dict[str, Any]) -> dict[str, Any]:
    """Those options that mean something to a file of its kind."""
    _require_no_column(path, "PATH:")
    kind = kind_of(expand(path)[0])
    others = () if kind == "text" else _TEXT_OPTIONS
    if kind not in ("text", *TABLE_KINDS):
        others = (*others, "key")
    return {name: value for name, value in given.items() if name not in others}


def _require_no_column(path: str, advice: str) -> None:
    """Raises if there is no such file, and this may be a column of one."""
    if may_be_column(path) and not os.path.exists(path):
        raise FileNotFoundError(
            errno.ENOENT,
            f"there is no such file; if this is a column of one, write {advice}{path} with the "
            "path of that file",
            path,
        )


def _table(text: str, given: dict[str, Any]) -> gm.Table:
    """The table that an option means."""
    path, columns = _split_path(text)
    chosen: dict[str, Any] = {} if columns is None else {"columns": shared.columns(columns)}
    return gm.Table(source=path, **_readable(path, given), **chosen)


def _by_name(texts: Sequence[str], flag: str, thing: str) -> Iterator[tuple[str, str]]:
    """Names, and the path of each."""
    names = set()
    for text in texts:
        name, sign, path = text.partition("=")
        if not (name and sign and path):
            raise ValueError(f"--{flag} {shown(text)} is not NAME=PATH; write --{flag} x=rows.npy")
        if name in names:
            raise ValueError(f"--{flag} {name}=… is there twice; give each {thing} its own name")
        names.add(name)
        yield name, path


def _tables(texts: Sequence[str], flag: str, given: dict[str, Any]) -> dict[str, gm.Table]:
    return {name: _table(path, given) for name, path in _by_name(texts, flag, "table")}


def _edges(texts: Sequence[str], given: dict[str, Any]) -> gm.EdgeTable:
    parts = [_split_path(text) for text in texts]
    columns = parts[0][1]
    if any(other != columns for _, other in parts):
        raise ValueError("--edges has several files with other columns; give all the same ones")
    paths = [path for path, _ in parts]
    chosen: dict[str, Any] = {} if columns is None else {"columns": shared.ends(columns)}
    source = paths[0] if len(paths) == 1 else paths
    return gm.EdgeTable(source=source, **_readable(paths[0], given), **chosen)


def _splits(texts: Sequence[str], given: dict[str, Any]) -> dict[str, str] | gm.Table | str | None:
    """Files of ids by name; or one column of all splits."""
    if len(texts) != 1 or "=" in texts[0]:
        files = dict(_by_name(texts, "splits", "split"))
        for path in files.values():
            _require_no_column(path, "--splits PATH:")
        return files or None
    is_file = ":" in texts[0] or os.path.exists(texts[0])
    return _table(texts[0], given) if is_file else texts[0]
