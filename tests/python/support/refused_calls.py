"""A filter of system calls, as containers have: for processes that are to live without some."""

from __future__ import annotations

import ctypes
import platform

IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER = 425, 426, 427

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_SECCOMP_MODE_FILTER = 2
_SECCOMP_SET_MODE_FILTER, _FILTER_FLAG_TSYNC = 1, 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}  # the number of the call
_LOAD_WORD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_RET_ERRNO, _RET_ALLOW = 0x00050000, 0x7FFF0000


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("if_true", ctypes.c_ubyte),
        ("if_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def refuse(number, code, *, every_thread=False):
    """From now on, this thread and those it starts get error `code` from one system call.

    With `every_thread`, those that run already too. There is no way back.
    """
    instructions = (_Instruction * 4)(
        _Instruction(_LOAD_WORD, 0, 0, 0),  # the number of the call
        _Instruction(_JUMP_IF_EQUAL, 0, 1, number),
        _Instruction(_RETURN, 0, 0, _RET_ERRNO | code),
        _Instruction(_RETURN, 0, 0, _RET_ALLOW),
    )
    program = ctypes.byref(_Program(4, instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if result == 0 and every_thread:
        call = _SECCOMP.get(platform.machine(), -1)
        result = libc.syscall(call, _SECCOMP_SET_MODE_FILTER, _FILTER_FLAG_TSYNC, program)
    elif result == 0:
        result = libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0)
    if result != 0:
        raise OSError(ctypes.get_errno(), "the system takes no filter")
