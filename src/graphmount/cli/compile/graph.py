"""`graphmount compile graph SOURCE… OUT.gl`: edges of any kind of file to neighbor lists."""

from __future__ import annotations

import argparse
from typing import Any

import graphmount as gm
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared

_EXAMPLES = """examples:
  graphmount compile graph edges.csv papers.gl
  graphmount compile graph follows.tsv.gz people.gl --ids map --columns who,whom --weights since
  graphmount compile graph 'parts/*.parquet' web.gl --undirected --dedup first --memory 16GiB
"""
_READING = """
--columns SRC,DST     the columns, or members of an .npz, with the edges: names or numbers from 0 on
                      (default: the first two)
--pair                the sources are two .npy files: of the sources of edges and of their
                      destinations
--weights --timestamps --delimiter --header --comments
--shape N,2           of a binary file without a header; one size may be -1 (write --shape=-1,...)
--dtype NAME          of a binary file without a header
--on-error
"""
_GRAPH = """
--undirected --neighbors --ids --key-type --num-nodes --dedup --self-loops --index-dtype
--source-rows
"""


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "graph",
        help="neighbor lists (.gl) from edges",
        usage="graphmount compile graph [OPTIONS] SOURCE... OUT.gl",
        description="Writes edges to a .gl file. A source is a file, a folder or a quoted\n"
        "pattern: text (also compressed), .npy, .npz, .mtx, Parquet, Feather, ORC,\n"
        "headerless binary, .gl of graphmount or GraphZero. The graph may be larger\n"
        "than memory.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared.add_paths(parser, "edges", ".gl")
    shared.add_options(parser, "reading", _READING)
    shared.add_options(parser, "the graph", _GRAPH)
    shared.add_options(parser, "the work", "--memory --tmp --json --no-progress")
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    source: Any = shared.source_of(options)
    if options.pair:
        if len(options.sources) != 2:
            raise ValueError("--pair takes two files: of sources, and of destinations")
        source = tuple(options.sources)
    arguments = shared.arguments_of(options)
    done = gm.compile_graph(source, options.out, directed=not options.undirected, **arguments)
    messages.show(done, as_json=options.json)
    return 0
