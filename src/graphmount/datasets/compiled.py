"""Opens what was compiled from a folder before, or compiles it now.

A compiled dataset is opened only if it was compiled from the same files with the same options. If
several processes need the same dataset, one compiles and the others wait.
"""

from __future__ import annotations

import errno
import hashlib
import os
from typing import TYPE_CHECKING, Any

from graphmount._dataset.dataset import Dataset
from graphmount._support.arguments import require_choice
from graphmount._support.conversion import dtype_name
from graphmount._support.files.lock_file import take_lock
from graphmount._support.files.regular_files import open_regular
from graphmount._support.progress import say
from graphmount._support.sizes import format_bytes
from graphmount.datasets.options import OF_CONTENT
from graphmount.errors import DatasetChangedError, FormatError, OrderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmount._compile.dataset.compiler import CompiledDataset

#: What is read of each file, at its beginning and at its end.
_PIECE_BYTES = 1 << 16


def content_of(folder: str, files: Sequence[str], *facts: str) -> str:
    """A hash that identifies these files, in hexadecimal digits.

    It is a hash of their sizes, beginnings and ends. The formats in these folders (gzip, and the
    archives of NumPy and torch) end with checksums of their whole content.

    Args:
        folder: The folder.
        files: Paths in it.
        facts: What else the content depends on.
    """
    digest = hashlib.blake2b(repr(facts).encode(), digest_size=20)
    for name in files:
        with open_regular(os.path.join(folder, name)) as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(repr((name, size)).encode())
            digest.update(file.read(_PIECE_BYTES))
            file.seek(max(0, size - _PIECE_BYTES))
            digest.update(file.read(_PIECE_BYTES))
    return digest.hexdigest()


def open_or_compile(
    name: str,
    folder: str,
    content: str,
    compile_into: Callable[..., CompiledDataset],
    options: Mapping[str, Any],
) -> Dataset:
    """The dataset of a folder.

    Args:
        name: What the dataset is called.
        folder: The folder that was downloaded.
        content: What tells its files from others.
        compile_into: Compiles it, given the folder to write and options of `compile_dataset`.
        options: The options that the user gave.

    Raises:
        FileExistsError: What is at `out` is of something else, and `overwrite` is False.
        OSError: It cannot be written, or read.
    """
    left = dict(options)
    given = left.pop("out", None)
    out = os.path.abspath(f"{folder}-graphmount" if given is None else os.fsdecode(given))
    overwrite, progress = left.pop("overwrite", False), left.get("progress")
    require_choice("overwrite", overwrite, (False, True))
    notes = (f"Compiled of {name} with the content {content}.", _note_of(left))
    found = _opened(out, name, notes, overwrite=overwrite)
    if found is not None:
        return found
    os.makedirs(os.path.dirname(out), exist_ok=True)
    path = os.path.join(os.path.dirname(out), f".{os.path.basename(out)}.lock")
    lock = take_lock(path, alone=True, waits=False)
    if lock is None:
        say(f"waiting for another process that compiles {out}", progress)
        lock = take_lock(path, alone=True, waits=True)
    try:
        found = _opened(out, name, notes, overwrite=overwrite)  # by another process meanwhile
        if found is None:
            done = compile_into(out, notes=notes, overwrite=overwrite, **left)
            size, seconds = format_bytes(done.file_bytes), f"{done.seconds:.1f} s"
            say(f"compiled {name} into {out} ({size}, {seconds})", progress)
            found = Dataset(out)
        return found
    finally:
        if lock is not None:
            lock.remove()


def _note_of(options: Mapping[str, Any]) -> str:
    chosen = {option: options.get(option, usual) for option, usual in OF_CONTENT.items()}
    if chosen["dtype"] is not None:
        chosen["dtype"] = dtype_name(chosen["dtype"])
    if "reverse" in options:  # of many node types
        chosen["reverse"] = options["reverse"]
    return "Compiled with " + ", ".join(f"{key}={value!r}" for key, value in chosen.items()) + "."


def _opened(out: str, name: str, notes: tuple[str, str], *, overwrite: bool) -> Dataset | None:
    """The dataset at this place; None if there is none, or if it is to be replaced."""
    if not os.path.lexists(out):
        return None
    try:
        dataset = Dataset(out)
    except (FileNotFoundError, FormatError, OrderError, DatasetChangedError):
        if overwrite:
            return None  # compiling says whether it can be replaced
        raise
    content, options = notes
    there = dataset.description.get("notes", [])
    if content in there and options in there:
        return dataset
    if overwrite:
        return None
    if content in there:
        others = [note for note in there if note.startswith("Compiled with ")]
        reason = f"{others[0][:1].lower()}{others[0][1:-1]}" if others else "compiled otherwise"
        message = f"this dataset was {reason}, and not {options[0].lower()}{options[1:-1]}"
    else:
        message = f"this dataset was not compiled of the files of {name} that are there now"
    raise FileExistsError(
        errno.EEXIST, f"{message}; pass overwrite=True to compile it anew, or another out=", out
    )
