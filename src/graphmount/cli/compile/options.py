"""Options of the commands that compile, as tables of text, and how their values are read.

A flag has the name of an argument of the function that does the work, and no default of its own:
what is not given is not passed on.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from graphmount._support.shown import shown
from graphmount._support.sizes import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ","}

#: Options that the commands themselves act on.
_NO_ARGUMENTS = {"run", "compile", "sources", "folder", "out", "pair", "json", "no_progress"}
_NO_ARGUMENTS |= {"undirected", "change", "name", "type", "relation", "paths", "has_flags"}
_NO_ARGUMENTS |= {"one_type"}

#: As many as a text table may have.
_MOST_COLUMNS = 1 << 20
#: Of whole numbers; int64 has no more.
_MOST_DIGITS = 18


def count(text: str) -> int:
    """A whole number; whoever takes it says whether it may be negative."""
    if not text.removeprefix("-").isdecimal() or len(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a whole number of at most {_MOST_DIGITS} digits"
        )
    return int(text)


def column(text: str) -> int | str:
    """A column, by number (from 0 on) or by name."""
    return count(text) if text.isdecimal() else text


def columns(text: str) -> list[int | str]:
    """Columns, separated by commas: numbers, ranges of them (3-7), or names."""
    found: list[int | str] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            if count(last) - count(first) >= _MOST_COLUMNS:
                raise argparse.ArgumentTypeError(
                    f"{shown(part)} are more columns than the {_MOST_COLUMNS} that there can be"
                )
            found += range(int(first), int(last) + 1)
        else:
            found.append(column(part))
    return found


def shape(text: str) -> tuple[int, ...]:
    """A shape, as 1000,128 or 1000x128; -1 for a size that follows from that of the file."""
    parts = [part.strip() for part in text.lower().replace("x", ",").split(",")]
    if not all(part == "-1" or part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a shape; write 1000,128")
    return tuple(-1 if part == "-1" else count(part) for part in parts)


def delimiter(text: str) -> str:
    r"""A delimiter; a shell has no simple way to write a tab, so it may be called tab or \t."""
    return _DELIMITERS.get(text, text)


def size(text: str) -> str:
    """An amount of memory, as the functions take it, checked before any work is done."""
    try:
        parse_bytes(text, "memory")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("memory=")) from None
    return text


def ending(suffix: str) -> Callable[[str], str]:
    """Reads the name of the file to write: a source that stands last should not be replaced."""

    def read(text: str) -> str:
        if not text.endswith(suffix):
            raise argparse.ArgumentTypeError(f"the last path is the file to write, NAME{suffix}")
        return text

    return read


def number_or(*words: str) -> Callable[[str], float | str]:
    """Reads a number, or one of these words."""

    def read(text: str) -> float | str:
        if text in words:
            return text
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{shown(text)} is neither a number nor {' nor '.join(words)}"
            ) from None

    return read


def ends(text: str) -> tuple[int | str, ...] | str:
    """The columns of the two ends of edges; or one member of an archive, which holds both."""
    found = columns(text)
    return str(found[0]) if len(found) == 1 else tuple(found)


#: The options that several commands have, and those that messages may name: see `add_options`.
_KNOWN = """
--columns A,B,...     the columns to take: names, numbers from 0 on, ranges as 3-7 (default: all)
--comments CHARACTERS lines that begin with one of these are passed over (default: #%%)
--dedup {first,sum}   of several edges between two nodes, keep the first, or add up their weights
--delimiter CHARACTER what separates the columns, such as ',' or tab (default: found)
--dtype NAME          how to store values: float16, bfloat16, float32, int8, int64, ...
                      (default: as they are)
--edges GRAPH.gl      the graph whose edges the rows belong to, compiled with --source-rows
--header/--no-header  whether the first line has the names of the columns (default: found)
--ids {dense,map}     dense takes ids as they are, 0, 1, 2, ...; map numbers any integers or strings
--index-dtype {int32,int64} of neighbors (default: the smallest)
--json                print the result as JSON
--key COLUMN          the column that says which node a row belongs to (default: rows are in order)
--key-type {int,str}  with --ids map, what ids of text files are (default: found)
--member NAME         of an .npz file with several arrays
--memory SIZE         how much memory to use, such as 8GiB (default: 2GiB)
--missing NUMBER      the value for nodes without a row (default: error)
--nan NUMBER          what to put in the place of NaN; or keep (the default), or error
--neighbors {both,in,out} which lists to keep: in for sampling, out for walks (default: both)
--no-progress         show no progress bar
--num-nodes N         (default: the largest id plus one, or as many as a table has rows)
--on-error {raise,skip} skip leaves out rows that cannot be used, and counts them
--order {hot,given}   hot numbers the nodes by how often sampling meets them; given leaves them as
                      they are (default: hot)
--overwrite           replace what has this name, if there is anything
--quantize {column}   store int8, with a scale for each column
--repeated {error,first,last} which of several rows of one node to keep (default: error)
--self-loops {keep,drop} (default: keep)
--shape N,COLUMNS     of a binary file without a header; one size may be -1 (write --shape=-1,...)
--source-dtype NAME   of a binary file without a header
--source-rows         keep the row of each edge, which loaders can give as its id, and which tables
                      of edges need
--timestamps COLUMN   the column or member with the times of edges, or an .npy file of them
--tmp FOLDER          where temporary files go (default: beside what is written)
--undirected          every edge runs both ways
--weights COLUMN      the column or member with the weights of edges, or an .npy file of them
"""
#: What makes values of text, by what the value is called, or by the flag.
_READERS: dict[str, Callable[[str], Any]] = {
    "--missing": number_or("error"),
    "A,B,...": columns,
    "CHARACTER": delimiter,
    "COLUMN": column,
    "N": count,
    "N,2": shape,
    "N,COLUMNS": shape,
    "NUMBER": number_or("keep", "error"),
    "SIZE": size,
    "SRC,DST": ends,
}
_OPTION = re.compile(r"(--[\w-]+)(/--no-\S+)?( [^ -]\S*)? +([^ -].*)")


def add_options(parser: argparse.ArgumentParser, title: str, table: str) -> None:
    """Adds a group of options.

    Args:
        parser: What they are added to.
        title: What help calls the group.
        table: A line for each option: the flag, what its value is called or the words that it may
            be, and what help says. A line that begins with blanks goes on with the one before. A
            flag without a value says yes, and with `/--no-` behind it also no. Or a line of flags
            alone, which are as all commands have them.
    """
    group = parser.add_argument_group(title)
    for flag, options in _options_of(table):
        group.add_argument(flag, **options)


def _options_of(table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The flags of a table, with what argparse wants to know of each."""
    for line in re.sub(r"\n +", " ", table).strip().split("\n"):
        if found := _OPTION.fullmatch(line):
            flag, also_no, value, text = found.groups()
            options: dict[str, Any] = {"help": text}
            if value is None:
                options["action"] = argparse.BooleanOptionalAction if also_no else "store_true"
            elif value.startswith(" {"):
                options["choices"] = value[2:-1].split(",")
            else:
                reader = _READERS.get(flag) or _READERS.get(value[1:], str)
                options |= {"metavar": value[1:], "type": reader}
            yield flag, options
        else:
            yield from ((flag, KNOWN[flag]) for flag in line.split())


KNOWN = dict(_options_of(_KNOWN))


def add_paths(parser: argparse.ArgumentParser, things: str, suffix: str) -> None:
    """The sources, and the file to write."""
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=f"where the {things} are")
    parser.add_argument(
        "out", type=ending(suffix), metavar=f"OUT{suffix}", help="the file to write"
    )


def arguments_of(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a function that compiles: all options given that have the names of some."""
    arguments = {
        name: value
        for name, value in vars(options).items()
        if name not in _NO_ARGUMENTS and value is not None
    }
    return arguments | {"progress": False if options.no_progress else None}  # bars are theirs


def taken(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of the arguments that have these names, which are no longer there then."""
    return {name: given.pop(name) for name in names if name in given}


def source_of(options: argparse.Namespace) -> str | list[str]:
    """The source: one path may be a folder or a pattern, several are read one after another."""
    paths: list[str] = options.sources
    return paths[0] if len(paths) == 1 else paths
