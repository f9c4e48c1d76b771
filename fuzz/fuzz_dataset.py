"""Reads descriptions of datasets that were damaged at random; only a `FormatError` may come out.

How it is called, see `python_driver.py`. A description that is taken names files inside of the
folder only, can be written and read again, and a folder that has it opens, or says what is wrong.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING

import graphmount as gm
from graphmount._dataset.description import (
    DESCRIPTION,
    encode_description,
    named_files,
    parse_description,
)
from python_driver import Fuzzer

if TYPE_CHECKING:
    import random

VALUES = (
    b'null true false 0 1 -1 5 6 12 1.5 1e400 9223372036854775807 9223372036854775808 "" "." ".." '
    b'"../x.gd" "/etc/passwd" "graph.gl" "x.gd" "dataset.json" "a//b" "\\u0000" "\\ud800" [] {} '
    b'[[]] {"a":{}} "0123456789abcdef" NaN Infinity 00 0x1 "\\n" "splits" "files"'
).split(b" ")
MARKS = (b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b" ", b"\n", b"\0", b"\xff", b"\xc3\xb6")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A description with values, names or bytes changed, moved, repeated or gone."""
    for _ in range(chance.randrange(1, 4)):
        data = (
            _changed_fields(data, chance) if chance.randrange(3) else _changed_bytes(data, chance)
        )
    if chance.randrange(200) == 0:  # deep, or long
        data += chance.choice((b"[", b'{"a":', b"9", b'"')) * chance.choice((40, 5000, 1 << 20))
    return data


def _changed_fields(data: bytes, chance: random.Random) -> bytes:
    """Puts a value in the place of another, or adds one, where it is JSON still."""
    try:
        whole = json.loads(data)
        value = json.loads(chance.choice(VALUES))
    except (ValueError, RecursionError):
        return _changed_bytes(data, chance)
    places: list[tuple[dict[str, object], str]] = []
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            places += [(node, name) for name in node]
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    if not places:
        return _changed_bytes(data, chance)
    node, name = chance.choice(places)
    match chance.randrange(4):
        case 0:
            del node[name]
        case 1:
            node[chance.choice(places)[1]] = value
        case 2:
            node[name] = chance.choice(places)[0]  # perhaps itself, which cannot be written
        case _:
            node[name] = value
    try:
        return json.dumps(whole).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return data


def _changed_bytes(data: bytes, chance: random.Random) -> bytes:
    content = bytearray(data)
    place = chance.randrange(len(content) + 1)
    match chance.randrange(5):
        case 0:
            content[place : place + 1] = bytes([chance.randrange(256)])
        case 1:
            content[place : place + chance.randrange(1, 30)] = b""
        case 2:
            content[place:place] = chance.choice(VALUES)
        case 3:
            content[place:place] = chance.choice(MARKS)
        case _:
            start = chance.randrange(len(content) + 1)
            content[place:place] = content[start : start + chance.randrange(60)]
    return bytes(content)


@cache
def _sound_dataset(folder: str) -> str:
    """A small dataset, whose description is the one to be replaced."""
    path = os.path.join(folder, "dataset")
    gm.compile_dataset(
        path,
        edges=([0, 1, 2], [1, 2, 3]),
        features={"x": [[0.0], [1.0], [2.0], [3.0]]},
        labels=[0, 1, 0, 1],
        splits={"train": [0, 2]},
    )
    return path


def check(data: bytes, folder: str) -> str:
    """Reads a description, and opens a folder that has it."""
    try:
        description = parse_description(data, "here")
    except gm.errors.FormatError:
        description = None
    if description is not None:
        _check_description(description)
    path = _sound_dataset(folder)
    with open(os.path.join(path, DESCRIPTION), "wb") as file:
        file.write(data)
    try:
        gm.Dataset(path)
    except (gm.errors.GraphmountError, OSError):
        pass
    else:
        if description is None:
            raise AssertionError("a folder opens whose description is wrong")
        return "opened"
    try:
        result = gm.verify(path)
    except (gm.errors.GraphmountError, OSError):
        return "refused" if description is None else "described"
    if result.ok:
        raise AssertionError("a folder verifies that does not open")
    return "described"


def _check_description(description: dict[str, object]) -> None:
    for _, _, file in named_files(description):
        inside = os.path.normpath(os.path.join("/folder", file))
        if inside != f"/folder/{file}" or file == DESCRIPTION:
            raise AssertionError(f"{file!r} is not inside of the folder")
    again = {
        name: value
        for name, value in description.items()
        if name not in ("kind", "version", "graphmount", "node_types", "edge_types")
    }
    parsed = parse_description(encode_description(again), "again")
    for name, value in again.items():
        # NaN is refused, so values are equal to themselves.
        if parsed[name] != value:
            raise AssertionError(f"{name!r} is {parsed[name]!r:.200} the second time")


FUZZER = Fuzzer(
    name="dataset",
    check=check,
    mutated=mutated,
    readers=("graphmount._dataset.description", "json.decoder"),
)

if __name__ == "__main__":
    FUZZER.main()
