"""Values that no argument is meant to have, and how a call must answer to them.

A call may take such a value, where it means something there. Otherwise it raises one of our errors,
or the built-in one for a wrong argument, with a message of ours: not one of NumPy, of the binding,
of the C++ library or of the interpreter.
"""

from __future__ import annotations

import fractions
import inspect
import re
import warnings

import numpy as np

from graphmount import errors


class Nothing:
    """An object that is nothing to anybody."""

    def __repr__(self):
        return "<Nothing>"


def _ragged():
    return [[1], [2, 3]]


#: Each made anew, as some can be used up.
VALUES = {
    "None": lambda: None,
    "True": lambda: True,
    "1.5": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-3": lambda: -3,
    "huge": lambda: 2**70,
    "minus huge": lambda: -(2**70),
    "5000 digits": lambda: 10**5000,
    "2**63 - 1": lambda: 2**63 - 1,
    "complex": lambda: 1j,
    "fraction": lambda: fractions.Fraction(1, 3),
    "text": lambda: "nonsense",
    "no text": lambda: "",
    "surrogate": lambda: "\udc80",
    "null": lambda: "a\0b",
    "bytes": lambda: b"nonsense",
    "empty list": list,
    "list of None": lambda: [None],
    "list of floats": lambda: [0.5, float("nan")],
    "list of text": lambda: ["a", "b"],
    "list of huge": lambda: [2**70],
    "list of lists": lambda: [[0, 1], [1, 0], [1, 1]],
    "ragged": _ragged,
    "nested": lambda: [[[[0]]]],
    "tuple": lambda: (0, "a"),
    "dict": lambda: {"a": 1},
    "dict of objects": lambda: {0: Nothing()},
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "object": Nothing,
    "class": lambda: Nothing,
    "function": lambda: len,
    "lambda": lambda: lambda *_: 0,
    "object array": lambda: np.array([Nothing(), 1], dtype=object),
    "array of one": lambda: np.array(1),
    "array of text": lambda: np.array(["a", "b"]),
    "array of dates": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "array of floats": lambda: np.array([0.5, np.nan]),
    "array of records": lambda: np.zeros(2, [("a", "i4"), ("b", "f4")]),
    "array of bools": lambda: np.array([True, False, True]),
    "array of 3 dimensions": lambda: np.zeros((2, 2, 2), np.int64),
    "no rows": lambda: np.zeros((0, 3), np.int64),
    "masked": lambda: np.ma.masked_array([1, 2], [True, False]),
    "negative": lambda: np.array([-1, -(2**63)]),
    "big endian": lambda: np.array([0, 1], ">i8"),
    "uint64": lambda: np.array([2**64 - 1], np.uint64),
    "np.float16": lambda: np.float16(0.5),
    "np.nan": lambda: np.float64("nan"),
}

# Paths may not exist, and PyG's stores are like dicts.
_OURS = (errors.GraphmountError, TypeError, ValueError, OSError, KeyError)

#: What others write. Each is seen to come if a value goes through to them.
_FOREIGN = re.compile(
    r"incompatible function arguments|nanobind|invoked with types|std::|basic_string|"
    r"vector::|bad_alloc|_core\.|map::at|length_error|"
    r"setting an array element|inhomogeneous|could not convert|cannot convert|Cannot cast|"
    r"cannot be cast|ufunc|out of bounds for axis|truth value|broadcast|array\.__index__|"
    r"only integer scalar arrays|only length-1|only 0-dimensional|too large to convert|"
    r"data type .* not understood|Cannot interpret|Cannot construct a dtype|"
    r"object is not|object of type|has no len|not iterable|unsupported operand|"
    r"must be real number|object has no attribute|unexpected keyword|cannot unpack|"
    r"not supported between|unhashable|values to unpack|object cannot be interpreted|"
    r"surrogates not allowed|embedded null|expected str, bytes|can't convert|can't be|"
    r"required positional argument|positional arguments but|bad operand|expected np|"
    r"Expected .* to be|expected Tensor|not a valid .*Type|Expected one of cpu|dtype\("
)


def parameters_of(call):
    """The names of what a call takes, but for collected options."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = inspect.signature(call).parameters.values()
    return [each.name for each in found if each.kind not in kinds and each.name != "self"]


def complaint(run, name, label):
    """What is wrong with how `run(value)` answers to a value; None if nothing is."""
    value = VALUES[label]()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(value)
    except _OURS as error:
        text = str(error)
        if _FOREIGN.search(text):
            return f"{name}={label}: {type(error).__name__}: {text[:300]}"
        if len(text) > 2000:
            return f"{name}={label}: a message of {len(text)} characters"
        if len(text) < 10:
            return f"{name}={label}: {type(error).__name__}: {text!r} says nothing"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is reported)
        return f"{name}={label}: {type(error).__name__}: {str(error)[:300]}"
    return None


def complaints(call, base, names=None, but=()):
    """All that is wrong with how a call answers, if one argument at a time is hostile.

    Args:
        call: A function.
        base: Gives the arguments that are as they should be.
        names: The arguments to try; all of the function if None.
        but: Arguments and values that are left out.
    """
    found = []
    for name in parameters_of(call) if names is None else names:
        for label in VALUES:
            if (name, label) in but:
                continue
            problem = complaint(
                lambda value, name=name: call(**base() | {name: value}), name, label
            )
            if problem is not None:
                found.append(problem)
    return found
