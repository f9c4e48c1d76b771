"""Hot rows that the processes of one machine have together: one reads them, the others take them.

Processes meet at a Unix socket whose name has no file: it is made of the run, the table and its
share of memory. Whoever comes first has the name, reads the rows into sealed memory, and hands its
descriptor to all that ask. No process has to be there first, and none is needed later: rows stay as
long as someone has them, and nothing is left when the last one is gone, however it ended. If the
one that has the name dies, the next one to come takes its place.

Each end checks that the other is of the same user. If anything goes wrong, a process reads rows
into memory of its own, which is always right.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import struct
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._support.user_warnings import warn_user

if TYPE_CHECKING:
    from graphmount._loading.ranks.ranks import Ranks
    from graphmount._mount.features import FeatureStore

#: How long to wait for the rows of another process, in seconds. Reading them here takes as long.
PATIENCE = 120.0
#: Processes that may wait at the same time.
_MOST_WAITING = 256
_MOST_BYTES = 4096
#: How often to ask a process that has the name and does not listen, and how long to wait between.
_TRIES, _PAUSE = 20, 0.02
_CREDENTIALS = struct.Struct("3i")  # process, user, group
_DESCRIPTOR = struct.Struct("i")

#: A descriptor of sealed memory, its size, how many rows it has, and if they are the first.
GivenRows = tuple[int, int, int, bool]

_offers: weakref.WeakSet[Offer] = weakref.WeakSet()


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Who shares the rows of a loader's tables.

    Attributes:
        session: What tells the run from others.
        sharers: How many processes of this machine there are.
        memory: What a loader was given: those with more or less keep other rows.
    """

    session: str
    sharers: int
    memory: str

    def meet(self, table: FeatureStore) -> Offer | Taken | None:
        """The rows of another process; or a place to offer some; or None for rows of its own."""
        return meet(self._name_of(table))

    def _name_of(self, table: FeatureStore) -> str:
        size, checksum = table._content  # noqa: SLF001  (a friend)
        facts = [self.session, self.sharers, self.memory, os.getuid(), size, checksum]
        digest = hashlib.blake2b(json.dumps(facts).encode(), digest_size=16)
        return f"graphmount-hot-{digest.hexdigest()}"


def sharing_of(ranks: Ranks, memory: object) -> Sharing | None:
    """How processes share rows, if they do: on Linux, if several of a known run are here."""
    if sys.platform != "linux" or ranks.num_here == 1 or ranks.session is None:
        return None
    return Sharing(session=ranks.session, sharers=ranks.num_here, memory=repr(memory))


@dataclass
class Taken:
    """Rows of another process, until they are mapped here."""

    rows: GivenRows
    is_closed: bool = False

    def close(self) -> None:
        """Closes the descriptor, of which the core has its own copy."""
        if not self.is_closed:
            self.is_closed = True
            os.close(self.rows[0])


class Offer:
    """The name at which others ask for rows; they wait there until rows are offered."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener: socket.socket | None = listener
        self._process = os.getpid()
        self._thread: threading.Thread | None = None
        _offers.add(self)

    def __del__(self) -> None:
        self.close()

    def serve(self, rows: GivenRows) -> None:
        """Hands these rows to all who ask, from now on."""
        descriptor, *facts = rows
        listener = self._listener
        if listener is None:
            return
        # The thread has no reference to this object, which ends it.
        copy = os.dup(descriptor)
        thread = threading.Thread(
            target=_serve,
            args=(listener, copy, json.dumps(facts).encode()),
            name="graphmount hot rows",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the system gives no thread: the others read rows by themselves
            os.close(copy)
            self.close()
        else:
            self._thread = thread

    def close(self) -> None:
        """Gives the name up. Who waits there reads rows by itself."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        is_own = os.getpid() == self._process  # else it is the parent's as well, who still has it
        if is_own:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        listener.close()
        # The name is free when the thread no longer waits there.
        if is_own and self._thread not in (None, threading.current_thread()):
            self._thread.join(1)


def meet(name: str, *, patience: float = PATIENCE) -> Offer | Taken | None:
    """Takes rows that are offered under a name, or the name itself; None if neither can be had.

    Args:
        name: Of the rows.
        patience: How many seconds to wait for a process that has the name.
    """
    address = "\0" + name  # of no file
    end = time.monotonic() + patience
    for _ in range(_TRIES):
        own = _claim(address)
        if own is not None:
            return Offer(own)
        try:
            return _ask(address, end)
        except ConnectionRefusedError:  # it has the name but does not listen yet, or has ended
            time.sleep(_PAUSE)
        except OSError:  # it is stuck
            return None
    return None


def _claim(address: str) -> socket.socket | None:
    """A socket that has the name; None if another has it."""
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        own.bind(address)
        own.listen(_MOST_WAITING)
    except OSError:
        own.close()
        return None
    return own


def _ask(address: str, end: float) -> Taken | None:
    """What the one who has the name gives until `end`, by the clock that only goes on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.settimeout(max(end - time.monotonic(), _PAUSE))
        other.connect(address)
        user = _user_of(other)
        if user != os.getuid():
            warn_user(
                f"a process of user {user} holds the name at which the processes of this "
                "training would share hot rows; each has rows of its own instead"
            )
            return None
        other.settimeout(max(end - time.monotonic(), _PAUSE))
        return _take(other)


def _take(other: socket.socket) -> Taken | None:
    # Programs that are started meanwhile do not get the descriptor. (`socket.recv_fds` ignores that
    # flag.)
    message, received, _, _ = other.recvmsg(
        _MOST_BYTES, socket.CMSG_LEN(_DESCRIPTOR.size), socket.MSG_CMSG_CLOEXEC
    )
    descriptors = [
        _DESCRIPTOR.unpack(data)[0]
        for level, kind, data in received
        if (level, kind, len(data)) == (socket.SOL_SOCKET, socket.SCM_RIGHTS, _DESCRIPTOR.size)
    ]
    facts = _facts_of(message)
    if facts is not None and len(descriptors) == 1:
        return Taken((descriptors[0], *facts))
    for left in descriptors:
        os.close(left)
    return None


def _facts_of(message: bytes) -> tuple[int, int, bool] | None:
    """Size, number of rows, and if they are the first; None if it is no such message."""
    try:
        facts = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, list) or [type(each) for each in facts] != [int, int, bool]:
        return None
    size, count, is_first = facts
    is_possible = 0 <= size < 2**63 and 0 <= count < 2**63
    return (size, count, is_first) if is_possible else None


def _user_of(connection: socket.socket) -> int:
    """The user of the process at the other end, as the system knows it."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    user: int = _CREDENTIALS.unpack(found)[1]
    return user


def _serve(listener: socket.socket, descriptor: int, message: bytes) -> None:
    try:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # the name was given up
                return
            # Someone who goes away, or does not read, keeps nobody else waiting for long.
            with connection, contextlib.suppress(OSError):
                connection.settimeout(1)
                if _user_of(connection) == os.getuid():
                    socket.send_fds(connection, [message], [descriptor])
    finally:
        os.close(descriptor)


def _leave_to_the_parent() -> None:
    # A child of fork has no thread that answers, and must not keep the name when the parent ends.
    for offer in list(_offers):
        offer.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)
