"""`graphmount cache list | clear`: what loaders have compiled of objects in memory."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING

from graphmount._compile.cache.folder import CacheFolder
from graphmount._support.sizes import format_bytes
from graphmount.cli.output import complain

if TYPE_CHECKING:
    import argparse

    from graphmount._compile.cache.folder import CacheEntry


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "cache",
        help="show or clear what loaders have compiled of PyG's Data",
        description="Loaders of graphmount.pyg compile a Data into a cache when they meet it for "
        "the first time. It is at $GRAPHMOUNT_CACHE, else at graphmount in $XDG_CACHE_HOME or "
        "~/.cache, and has at most $GRAPHMOUNT_CACHE_LIMIT (50GiB).",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what there is, that which was used last first")
    listing.add_argument("--json", action="store_true", help="print it as JSON")
    listing.set_defaults(run=_list)
    clearing = actions.add_parser("clear", help="remove what no process uses")
    clearing.add_argument("names", nargs="*", metavar="NAME", help="which entries; all if none")
    clearing.set_defaults(run=_clear)
    for action in (listing, clearing):
        action.add_argument("--folder", metavar="DIR", help="the cache, if it is elsewhere")


def _list(options: argparse.Namespace) -> int:
    cache = CacheFolder(options.folder)
    entries = cache.entries()
    if options.json:
        print(json.dumps([dataclasses.asdict(entry) for entry in entries], indent=2))
        return 0
    for entry in entries:
        print(_line(entry))
    total = format_bytes(sum(entry.bytes for entry in entries))
    print(f"{cache.path}: {_count(entries)}, {total} of {format_bytes(cache.limit)}")
    return 0


def _clear(options: argparse.Namespace) -> int:
    cache = CacheFolder(options.folder)
    removed, kept = cache.clear(options.names or None)
    freed = format_bytes(sum(entry.bytes for entry in removed))
    print(f"{cache.path}: {_count(removed)} removed, {freed}")
    for entry in kept:
        why = "a process uses it" if entry.is_used else "it holds what is not the cache's"
        complain(f"{entry.path} stays: {why}")
    return 2 if kept and options.names else 0


def _line(entry: CacheEntry) -> str:
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.last_used))
    use = ", in use" if entry.is_used else ""
    return f"{entry.name}: {format_bytes(entry.bytes)}, used {day}{use}"


def _count(entries: list[CacheEntry]) -> str:
    return "1 entry" if len(entries) == 1 else f"{len(entries):,} entries"
