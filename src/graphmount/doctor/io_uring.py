"""Whether io_uring is allowed, and if not, who forbids it and how to change that."""

from __future__ import annotations

import errno
import os
import re
import sys
from dataclasses import dataclass

from graphmount._support.display import Displayed
from graphmount.doctor.machine import read_fact

_SETTING = "/proc/sys/kernel/io_uring_disabled"

# What is wrong, and what to do about it.
_BY_SETTING: dict[str | None, tuple[str, str | None]] = {
    "2": (
        "the system has it switched off for all (kernel.io_uring_disabled = 2)",
        "as root: sysctl kernel.io_uring_disabled=0",
    ),
    "1": (
        "the system allows it only to root and one group (kernel.io_uring_disabled = 1)",
        "as root: sysctl kernel.io_uring_disabled=0, or join the group of kernel.io_uring_group",
    ),
}
_FILTERED = (
    "a filter of system calls (seccomp) forbids it, as containers do by default",
    "start the container with a profile that allows io_uring (--security-opt seccomp=FILE.json)",
)
_NOT_PERMITTED = (
    "the system does not permit it, perhaps by a policy such as SELinux's",
    None,
)
_BY_ERROR: dict[int, tuple[str, str | None]] = {
    errno.EPERM: _NOT_PERMITTED,
    errno.EACCES: _NOT_PERMITTED,
    errno.ENOSYS: (
        "the kernel does not have it: it is older than Linux 5.6, built without it, or a sandbox",
        "use another kernel",
    ),
    errno.ENOMEM: ("too little memory may be locked", "raise the limit: ulimit -l unlimited"),
    errno.EMFILE: ("no more files may be open", "raise the limit: ulimit -n 4096"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class IoUring(Displayed):
    """Whether this process may use io_uring.

    Attributes:
        is_allowed: Whether a read with io_uring worked.
        error: The error if it did not, such as "EPERM".
        reason: What forbids it, as far as this can be found out.
        remedy: How to allow it.

    Examples:
        >>> from graphmount.doctor import IoUring
        >>> IoUring(is_allowed=False, error="EPERM", reason="a filter of system calls").error
        'EPERM'
    """

    is_allowed: bool
    error: str | None = None
    reason: str | None = None
    remedy: str | None = None


def refusal_here(code: int) -> IoUring:
    """What an error of this machine means.

    Args:
        code: Its errno.
    """
    status = re.search(r"^Seccomp:\s*(\d)", read_fact("/proc/self/status") or "", re.MULTILINE)
    return explain_refusal(
        code,
        is_linux=sys.platform == "linux",
        setting=read_fact(_SETTING),
        is_filtered=status is not None and status[1] == "2",
    )


def explain_refusal(
    code: int, *, is_linux: bool, setting: str | None, is_filtered: bool
) -> IoUring:
    """What an error means on a machine of which this is known.

    Args:
        code: Its errno.
        is_linux: Whether it runs Linux.
        setting: Of kernel.io_uring_disabled; None if there is none.
        is_filtered: Whether the process has a filter of system calls (seccomp).
    """
    is_forbidden = code in (errno.EPERM, errno.EACCES)
    found = _BY_ERROR.get(code, (os.strerror(code), None))
    if not is_linux:
        found = "only Linux has it", None
    elif setting in _BY_SETTING and is_forbidden:
        found = _BY_SETTING[setting]
    elif is_filtered and (is_forbidden or code == errno.ENOSYS):
        found = _FILTERED
    error = errno.errorcode.get(code, str(code))
    return IoUring(is_allowed=False, error=error, reason=found[0], remedy=found[1])
