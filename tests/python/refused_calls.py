"""A filter of system calls, as containers have: for processes that are to live without some."""

from __future__ import annotations

import ctypes

IO_URING_SETUP = 425

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_SECCOMP_MODE_FILTER = 2
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


def refuse(number, code):
    """From now on, this process gets error `code` from one system call. There is no way back."""
    instructions = (_Instruction * 4)(
        _Instruction(_LOAD_WORD, 0, 0, 0),  # the number of the call
        _Instruction(_JUMP_IF_EQUAL, 0, 1, number),
        _Instruction(_RETURN, 0, 0, _RET_ERRNO | code),
        _Instruction(_RETURN, 0, 0, _RET_ALLOW),
    )
    program = _Program(4, instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "the system takes no filter")
