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
_READING = f"""
--key COLUMN          the column that says which node a row belongs to (default: rows are in order)
--columns A,B,...     the columns to take: names, numbers from 0 on, ranges as 3-7 (default: all)
{shared.TEXT}
--shape N,COLUMNS     of a binary file without a header; one size may be -1 (write --shape=-1,...)
--source-dtype NAME   of a binary file without a header
--member NAME         of an .npz file with several arrays
{shared.ON_ERROR}
"""
_TABLE = """
--dtype NAME          how to store values: float16, bfloat16, float32, int8, int64, ...
                      (default: as they are)
--order GRAPH.gl      the graph whose nodes the rows belong to
--edges GRAPH.gl      the graph whose edges the rows belong to, compiled with --source-rows
--num-nodes N         how many rows the table has, if no graph says
--missing NUMBER      the value for nodes without a row (default: error)
--repeated {error,first,last} which of several rows of one node to keep (default: error)
--nan NUMBER          what to put in the place of NaN; or keep (the default), or error
--quantize {column}   store int8, with a scale for each column
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
    shared.add_options(parser, "reading", _READING)
    shared.add_options(parser, "the table", _TABLE)
    shared.add_work_options(parser)
    parser.set_defaults(compile=_compile)


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
