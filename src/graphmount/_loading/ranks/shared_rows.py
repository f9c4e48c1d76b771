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
_CREDENTIALS = struct.Struct("3i")  # process, user, group

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
        self._thread = threading.Thread(
            target=_serve,
            args=(listener, os.dup(descriptor), json.dumps(facts).encode()),
            name="graphmount hot rows",
            daemon=True,
        )
        self._thread.start()

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
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        own.bind(address)
        own.listen(_MOST_WAITING)
    except OSError:
        own.close()
    else:
        return Offer(own)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.settimeout(patience)
        try:
            other.connect(address)
            user = _user_of(other)
            if user != os.getuid():
                warn_user(
                    f"a process of user {user} holds the name at which the processes of this "
                    "training would share hot rows; each has rows of its own instead"
                )
                return None
            return _take(other)
        except (OSError, ValueError):  # it has just ended, or is stuck
            return None


def _take(other: socket.socket) -> Taken | None:
    message, descriptors, _, _ = socket.recv_fds(other, _MOST_BYTES, 1)
    try:
        size, count, is_first = json.loads(message)
        (descriptor,) = descriptors
        if type(size) is int and type(count) is int and type(is_first) is bool:
            descriptors = []
            return Taken((descriptor, size, count, is_first))
        return None
    finally:
        for left in descriptors:
            os.close(left)


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
