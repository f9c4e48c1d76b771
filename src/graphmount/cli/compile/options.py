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
    from collections.abc import Callable, Mapping

_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ","}

#: Options that the commands themselves act on.
_NO_ARGUMENTS = {"run", "compile", "sources", "folder", "out", "pair", "json", "no_progress"}
_NO_ARGUMENTS |= {"undirected"}

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


#: How text is read.
TEXT = """
--delimiter CHARACTER   what separates the columns, such as ',' or tab (default: found)
--header/--no-header    whether the first line has the names of the columns (default: found)
--comments CHARACTERS   lines that begin with one of these are passed over (default: #%%)
"""
ON_ERROR = """
--on-error {raise,skip} skip leaves out rows that cannot be used, and counts them
"""
NEIGHBORS = """
--neighbors {both,in,out} which lists to keep: in for sampling, out for walks (default: both)
"""
#: How the work is done, and what is said about it.
_WORK = """
--memory SIZE  how much memory to use, such as 8GiB (default: 2GiB)
--tmp FOLDER   where temporary files go (default: beside OUT)
--json         print the result as JSON
--no-progress  show no progress bar
"""
#: Of values that are more than text.
READERS: dict[str, Callable[[str], Any]] = {
    "--columns": columns,
    "--delimiter": delimiter,
    "--key": column,
    "--label-nan": number_or("keep", "error"),
    "--memory": size,
    "--missing": number_or("error"),
    "--nan": number_or("keep", "error"),
    "--num-nodes": count,
    "--shape": shape,
    "--timestamps": column,
    "--weights": column,
}
_OPTION = re.compile(r"(--[\w-]+)(/--no-\S+)?( [^ -]\S*)? +(.+)")


def add_options(
    parser: argparse.ArgumentParser,
    title: str,
    table: str,
    readers: Mapping[str, Callable[[str], Any]] = READERS,
) -> None:
    """Adds a group of options.

    Args:
        parser: What they are added to.
        title: What help calls the group.
        table: A line for each option: the flag, what its value is called or the words that it may
            be, and what help says. A line that begins with blanks goes on with the one before. A
            flag without a value says yes, and with `/--no-` behind it also no.
        readers: What makes values of text, by flag.
    """
    group = parser.add_argument_group(title)
    for line in re.sub(r"\n +", " ", table).split("\n"):
        if found := _OPTION.fullmatch(line):
            flag, also_no, value, text = found.groups()
            options: dict[str, Any] = {"help": text}
            if value is None:
                options["action"] = argparse.BooleanOptionalAction if also_no else "store_true"
            elif value.startswith(" {"):
                options["choices"] = value[2:-1].split(",")
            else:
                options |= {"metavar": value[1:], "type": readers.get(flag, str)}
            group.add_argument(flag, **options)


def add_paths(parser: argparse.ArgumentParser, things: str, suffix: str) -> None:
    """The sources, and the file to write."""
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=f"where the {things} are")
    parser.add_argument(
        "out", type=ending(suffix), metavar=f"OUT{suffix}", help="the file to write"
    )


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """How the work is done, and what is said about it."""
    add_options(parser, "the work", _WORK)


def arguments_of(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a function that compiles: all options given that have the names of some."""
    arguments = {
        name: value
        for name, value in vars(options).items()
        if name not in _NO_ARGUMENTS and value is not None
    }
    return arguments | {"progress": False if options.no_progress else None}  # bars are theirs


def source_of(options: argparse.Namespace) -> str | list[str]:
    """The source: one path may be a folder or a pattern, several are read one after another."""
    paths: list[str] = options.sources
    return paths[0] if len(paths) == 1 else paths
