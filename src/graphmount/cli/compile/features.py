"""`graphmount compile features SOURCE… OUT.gd`: rows of any kind of file to a table."""

from __future__ import annotations

import argparse

import graphmount as gm
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared

_EXAMPLES = """examples:
  graphmount compile features x.npy x.gd --dtype float16
  graphmount compile features people.csv age.gd --order people.gl --key name --columns age
  graphmount compile features emb.bin emb.gd --shape 1000000,128 --source-dtype float32
"""


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "features",
        help="a table (.gd) of features or labels",
        usage="graphmount compile features [OPTIONS] SOURCE... OUT.gd",
        description="Writes rows of features, or labels, to a .gd file. A source is a file, a\n"
        "folder or a quoted pattern: .npy, .npz, text (also compressed), Parquet,\n"
        "Feather, ORC, headerless binary, .gd of graphmount or GraphZero. It may be\n"
        "larger than memory.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared.add_paths(parser, "rows", ".gd")
    _add_reading(parser)
    _add_table(parser)
    shared.add_work_options(parser)
    parser.set_defaults(compile=_compile)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--key",
        type=shared.column,
        metavar="COLUMN",
        help="the column that says which node a row belongs to (default: rows are in order)",
    )
    group.add_argument(
        "--columns",
        type=shared.columns,
        metavar="A,B,...",
        help="the columns to take: names, numbers from 0 on, ranges as 3-7 (default: all)",
    )
    shared.add_text_options(group)
    shared.add_shape_option(group, "N,COLUMNS")
    group.add_argument("--source-dtype", metavar="NAME", help="of a binary file without a header")
    group.add_argument("--member", metavar="NAME", help="of an .npz file with several arrays")
    shared.add_error_option(group)


def _add_table(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the table")
    group.add_argument(
        "--dtype",
        metavar="NAME",
        help="how to store values: float16, bfloat16, float32, int8, int64, ... "
        "(default: as they are)",
    )
    group.add_argument(
        "--order", metavar="GRAPH.gl", help="the graph whose nodes the rows belong to"
    )
    group.add_argument(
        "--edges",
        metavar="GRAPH.gl",
        help="the graph whose edges the rows belong to, compiled with --source-rows",
    )
    group.add_argument(
        "--num-nodes",
        type=shared.count,
        metavar="N",
        help="how many rows the table has, if no graph says",
    )
    group.add_argument(
        "--missing",
        type=shared.number_or("error"),
        default="error",
        metavar="NUMBER",
        help="the value for nodes without a row (default: error)",
    )
    group.add_argument(
        "--repeated",
        choices=["error", "first", "last"],
        default="error",
        help="which of several rows of one node to keep (default: error)",
    )
    group.add_argument(
        "--nan",
        type=shared.number_or("keep", "error"),
        default="keep",
        metavar="NUMBER",
        help="what to put in the place of NaN; or keep (the default), or error",
    )
    group.add_argument(
        "--quantize", choices=["column"], help="store int8, with a scale for each column"
    )


def _compile(options: argparse.Namespace) -> int:
    source = shared.source_of(options)
    done = gm.compile_features(source, options.out, **shared.arguments_of(options))
    facts = [" x ".join(f"{size:,}" for size in done.shape) + f" {done.dtype}"]
    if done.missing:
        facts.append(f"{messages.count(done.missing, 'row')} missing")
    if done.repeated:
        facts.append(f"{messages.count(done.repeated, 'repeated row')} dropped")
    messages.show(done, facts, as_json=options.json, num_things=done.shape[0], thing="rows")
    return 0
