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
_READING = """
--key --columns --delimiter --header --comments --shape --source-dtype --member --on-error
"""
_TABLE = """
--dtype
--order GRAPH.gl      the graph whose nodes the rows belong to
--edges
--num-nodes N         how many rows the table has, if no graph says
--missing --repeated --nan --quantize
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
    shared.add_options(parser, "the work", "--memory --tmp --json --no-progress")
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    source = shared.source_of(options)
    done = gm.compile_features(source, options.out, **shared.arguments_of(options))
    facts = [" x ".join(f"{size:,}" for size in done.shape) + f" {done.dtype}"]
    if done.missing:
        facts.append(f"{messages.count(done.missing, 'row')} missing")
    if done.repeated:
        facts.append(f"{messages.count(done.repeated, 'repeated row')} dropped")
    messages.show(done, facts, as_json=options.json)
    return 0
