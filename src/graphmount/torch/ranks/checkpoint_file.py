"""The file of a checkpoint: written as a whole or not at all, and read as plain data.

Every writer has a file of its own beside the checkpoint, which it locks, and which gets the name of
the checkpoint in the end. So two writers never mix, and what a killed one left can be told from
what a living one writes. Whoever reads changes nothing in the folder. All parts that a checkpoint
must have are looked at before anybody uses them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

import torch

from graphmount._support.files.regular_files import open_regular, require_replaceable
from graphmount.errors import FormatError

_KIND = "graphmount checkpoint"
_VERSION = 1
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LEFT = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_checkpoint(path: str, parts: Mapping[str, Any]) -> None:
    """Writes a file that is there as a whole, or not at all.

    Args:
        path: The file, as an absolute path.
        parts: All that `read_checkpoint` looks for.

    Raises:
        OSError: It cannot be written, with the path.
        Exception: A part cannot be pickled.
    """
    outside = sys.exc_info()[1]
    try:
        require_replaceable(path)
        _remove_leftovers(path)
        _write(path, parts)
    except (OSError, RuntimeError) as error:
        raise failed_write(path, error, outside) from error


def write_parts(parts: Mapping[str, Any], file: IO[bytes]) -> None:
    """Writes all parts into a file that is open."""
    torch.save({"kind": _KIND, "version": _VERSION, **parts}, file)


def _write(path: str, parts: Mapping[str, Any]) -> None:
    process = os.getpid()
    descriptor, own = _new_file(path)
    try:
        with open(descriptor, "wb") as file:
            write_parts(parts, file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(own, path)  # while it is locked, so that nobody takes it for a leftover
    except BaseException:
        if os.getpid() == process:
            with contextlib.suppress(OSError):
                os.unlink(own)
        raise
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _new_file(path: str) -> tuple[int, str]:
    """A file that only this writer has, locked, and its name."""
    folder, name = os.path.split(path)
    while True:
        own = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.unfinished")
        descriptor = os.open(own, _NEW, 0o666)
        # Another writer may take it for a leftover before it is locked, and removes it then.
        if _locks(descriptor) and _is_at(descriptor, own):
            return descriptor, own
        os.close(descriptor)


def _locks(descriptor: int) -> bool:
    """Locks a file that was just made. False if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # The file system has no locks: nobody can lock a leftover there, so none is removed.
        return True
    return True


def _remove_leftovers(path: str) -> None:
    """Removes what killed writers of this checkpoint left: what is locked has a living one."""
    folder, name = os.path.split(path)
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.unfinished")
    for each in os.listdir(folder):
        if pattern.fullmatch(each):
            left = os.path.join(folder, each)
            with contextlib.suppress(OSError):
                descriptor = os.open(left, _LEFT)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if _is_at(descriptor, left):  # not if it has become the checkpoint
                        os.unlink(left)
                finally:
                    os.close(descriptor)


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def failed_write(path: str, error: BaseException, outside: BaseException | None) -> OSError:
    """The error of the system, which torch may have hidden behind one of its own.

    Args:
        path: Of the checkpoint.
        error: What was raised.
        outside: What was being handled before, which is none of its causes.
    """
    cause: BaseException | None = error
    while cause is not None and cause is not outside:
        if isinstance(cause, OSError) and cause.errno is not None:
            return OSError(cause.errno, cause.strerror, path)
        cause = cause.__cause__ or cause.__context__
    return OSError(f"cannot write the checkpoint {path}: {error!s:.300}")


def read_checkpoint(path: str) -> dict[str, Any] | None:
    """What is in a checkpoint; None if there is no such file.

    Raises:
        FormatError: It is no checkpoint, or a part of it is not what it must be.
        OSError: It cannot be read.
    """
    try:
        with open_regular(path) as file:
            return read_parts(file, path)
    except FileNotFoundError:
        return None


def read_parts(file: IO[bytes], path: str) -> dict[str, Any]:
    """What is in a checkpoint that is open, after a look at all its parts.

    Args:
        file: The file; places in it can be looked up.
        path: What errors call it.

    Raises:
        FormatError: It is no checkpoint, or a part of it is not what it must be.
        OSError: It cannot be read.
    """
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # of a wrong place in it
            raise
        raise damaged(path, f"{error!s:.300}") from None
    if not isinstance(saved, dict) or saved.get("kind") != _KIND:
        raise damaged(path, "it was not made by save_checkpoint")
    if not _is_count(saved.get("version")) or saved["version"] != _VERSION:
        raise damaged(path, f"its version is {saved.get('version')!r:.100}, not {_VERSION}")
    for part, is_right in _PARTS.items():
        if part not in saved or not is_right(saved[part]):
            raise damaged(path, f"its part {part!r} is not there, or not what it must be")
    return saved


def damaged(path: str, problem: str) -> FormatError:
    """The error for a file that is no checkpoint."""
    error = FormatError(
        f"{path} is no checkpoint, or is damaged: {problem}; take an older one, or begin anew "
        "without it"
    )
    error.path = path
    return error


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_named(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _is_optimizer(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("state"), Mapping):
        return False
    groups = value.get("param_groups")
    if not isinstance(groups, list):
        return False
    numbers: list[int] = []
    for group in groups:
        if not _is_named(group) or not isinstance(group.get("params"), list):
            return False
        numbers += group["params"]
    return (
        all(_is_count(number) for number in numbers)
        and len(set(numbers)) == len(numbers)
        and all(
            _is_count(number) and number in numbers and _is_named(state)
            for number, state in value["state"].items()
        )
    )


def _is_optimizer_facts(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and _is_text(value.get("kind"))
        and isinstance(value.get("shapes"), list)
    )


def _is_data(value: object) -> bool:
    return _is_named(value) and isinstance(value, Mapping) and all(map(_is_text, value.values()))


def _is_random(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(_is_named(each) and _is_random_of_rank(each) for each in value)
    )


def _is_random_of_rank(states: Mapping[str, Any]) -> bool:
    for name, state in states.items():
        if not isinstance(state, torch.Tensor) or state.dtype != torch.uint8:
            return False
        if name == "cuda" and not torch.cuda.is_available():
            continue  # which is not used either
        try:
            torch.Generator(name).set_state(state)
        except (RuntimeError, TypeError):
            return False
    return "cpu" in states


#: What a checkpoint has, and whether that can be used.
_PARTS: dict[str, Callable[[object], bool]] = {
    "token": _is_text,
    "model": _is_named,
    "optimizer": _is_optimizer,
    "optimizer_facts": _is_optimizer_facts,
    "loader": _is_named,
    "data": _is_data,
    "random": _is_random,
    "extra": lambda value: isinstance(value, dict),
}
