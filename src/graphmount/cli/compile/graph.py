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
    _add_reading(parser)
    _add_graph(parser)
    shared.add_work_options(parser)
    parser.set_defaults(compile=_compile)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--columns",
        type=shared.ends,
        metavar="SRC,DST",
        help="the columns, or members of an .npz, with the edges: names or numbers from 0 on "
        "(default: the first two)",
    )
    group.add_argument(
        "--pair",
        action="store_true",
        help="the sources are two .npy files: of the sources of edges and of their destinations",
    )
    for name, what in (("weights", "weights"), ("timestamps", "times")):
        group.add_argument(
            f"--{name}",
            type=shared.column,
            metavar="COLUMN",
            help=f"the column or member with the {what}, or an .npy file of them",
        )
    shared.add_text_options(group)
    shared.add_shape_option(group, "N,2")
    group.add_argument("--dtype", metavar="NAME", help="of a binary file without a header")
    shared.add_error_option(group)


def _add_graph(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the graph")
    group.add_argument(
        "--undirected", dest="directed", action="store_false", help="every edge runs both ways"
    )
    shared.add_neighbors_option(group)
    group.add_argument(
        "--ids",
        choices=["dense", "map"],
        default="dense",
        help="dense takes ids as they are, 0, 1, 2, ...; map numbers any integers or strings",
    )
    group.add_argument(
        "--key-type",
        choices=["int", "str"],
        help="with --ids map, what ids of text files are (default: found)",
    )
    group.add_argument(
        "--num-nodes", type=shared.count, metavar="N", help="(default: the largest id plus one)"
    )
    group.add_argument(
        "--dedup",
        choices=["first", "sum"],
        default=False,
        help="of several edges between two nodes, keep the first, or add up their weights",
    )
    group.add_argument(
        "--self-loops", choices=["keep", "drop"], default="keep", help="(default: keep)"
    )
    group.add_argument(
        "--index-dtype", choices=["int32", "int64"], help="of neighbors (default: the smallest)"
    )
    group.add_argument(
        "--source-rows",
        action="store_true",
        help="keep the row of each edge, for `graphmount compile features --edges`",
    )


def _compile(options: argparse.Namespace) -> int:
    source: Any = shared.source_of(options)
    if options.pair:
        if len(options.sources) != 2:
            raise ValueError("--pair takes two files: of sources, and of destinations")
        source = tuple(options.sources)
    done = gm.compile_graph(source, options.out, **shared.arguments_of(options))
    facts = [messages.count(done.num_nodes, "node"), messages.count(done.num_edges, "edge")]
    messages.show(done, facts, as_json=options.json, num_things=done.num_edges, thing="edges")
    return 0
