"""What the commands that compile say: a line at the end, and errors in terms of flags."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING

import graphmount as gm
from graphmount._support.sizes import format_bytes
from graphmount.cli.compile.options import KNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Arguments of the functions whose names differ from those of the flags by more than a dash.
_FLAGS = {"directed=False": "--undirected", "overwrite=True": "--overwrite"}
_FLAGS |= {"source_rows=True": "--source-rows", "header=False": "--no-header"}
_ARGUMENTS = "|".join(
    flag[2:].replace("-", "_") for flag, option in KNOWN.items() if "action" not in option
)
_ARGUMENT = re.compile(rf"""(?<![\w-])({_ARGUMENTS})=(?:(["'])(.*?)\2|(-?[\w.]+))?""")
_SHOWN_EXAMPLES = 3


def with_flags(message: str) -> str:
    """A message on one line, with `--ids map` for `ids='map'`.

    Args:
        message: What a function says.
    """
    message = " ".join(message.split())
    for argument, flag in _FLAGS.items():
        message = message.replace(argument, flag)

    def flag_of(match: re.Match[str]) -> str:
        flag = "--" + match[1].replace("_", "-")
        value = match[4] if match[2] is None else match[3]
        return flag if value is None else f"{flag} {value or repr('')}"

    return _ARGUMENT.sub(flag_of, message)


def show(
    done: gm.CompiledGraph | gm.CompiledFeatures | gm.CompiledDataset,
    facts: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Prints what was compiled.

    Args:
        done: What the function returned.
        facts: What is in it, for people, besides nodes and edges.
        as_json: Whether it is to be JSON.
    """
    if as_json:
        print(json.dumps(dataclasses.asdict(done), indent=2))
        return
    if isinstance(done, gm.CompiledFeatures):
        num_things, thing = done.shape[0], "rows"
    else:
        num_things, thing = done.num_edges, "edges"
        facts = [count(done.num_nodes, "node"), count(done.num_edges, "edge"), *facts]
    speed = _speed(num_things / max(done.seconds, 1e-9))
    parts = [*facts, format_bytes(done.file_bytes)]
    print(f"{done.path}: {', '.join(parts)} in {_duration(done.seconds)} ({speed} {thing}/s)")
    if done.skipped:
        print(f"skipped {count(done.skipped, 'row')}:")
        for example in done.skipped_examples[:_SHOWN_EXAMPLES]:
            print(f"  {example}")
        if done.skipped > _SHOWN_EXAMPLES:
            print("  ...")


def count(number: int, thing: str) -> str:
    """A number of things: "1 node", "2,000 nodes".

    Args:
        number: How many.
        thing: What one of them is called.
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _speed(per_second: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= size:
            return f"{per_second / size:.1f} {unit}"
    return f"{per_second:.0f}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
