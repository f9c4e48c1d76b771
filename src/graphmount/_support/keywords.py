"""What a call says about an argument that it does not have: the nearest name, or what to write.

A decorator looks at the names of the arguments before the call begins. Type checkers and `inspect`
see the function as it was. The words that people bring from other libraries are in `foreign_words`.
"""

from __future__ import annotations

import difflib
import functools
import os
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from types import FunctionType

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type)

#: How alike two names must be: below this, a guess would be wrong too often.
_LIKENESS = 0.7


def advises(
    words: Mapping[str, str], *, options: Collection[str] = (), silent: Collection[str] = ()
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Lets a function or constructor say what to do about arguments that it does not have.

    Args:
        words: For names that it does not have, the name that it has, or what to do instead.
        options: Names that it takes by `**`.
        silent: More of them, which no message offers.
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        own = _own_names(function)  # type: ignore[arg-type]
        offered = frozenset({*own, *options} - {"self"})
        taken = offered | {"self", *silent}
        most = function.__code__.co_argcount

        @functools.wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            if not taken.issuperset(kwargs):
                name = next(name for name in kwargs if name not in taken)
                raise _unknown(_called(function, args), name, offered, words)
            if len(args) > most:
                raise _too_many(function, args, kwargs)  # type: ignore[arg-type]
            return function(*args, **kwargs)

        return call

    return decorate


def advising_class(words: Mapping[str, str]) -> Callable[[_Class], _Class]:
    """As `advises`, for the constructor that a dataclass is given.

    Args:
        words: See `advises`.
    """

    def decorate(cls: _Class) -> _Class:
        setattr(cls, "__init__", advises(words)(cls.__init__))  # type: ignore[misc]  # noqa: B010
        return cls

    return decorate


def _own_names(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _called(function: Callable[..., object], args: tuple[object, ...]) -> str:
    """What the caller calls a function; for a constructor, the class."""
    return type(args[0]).__name__ if function.__name__ == "__init__" else function.__name__


def _unknown(call: str, name: str, offered: Collection[str], words: Mapping[str, str]) -> TypeError:
    advice = words.get(name)
    if advice is None:
        close = difflib.get_close_matches(name, sorted(offered), n=1, cutoff=_LIKENESS)
        advice = close[0] if close else f"the others are {', '.join(sorted(offered))}"
    hint = f"did you mean {advice!r}?" if advice in offered else advice
    return TypeError(f"{call} has no option {shown(name)}; {hint}")


def _too_many(
    function: FunctionType, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> TypeError:
    """What to raise for more arguments without names than there may be."""
    code = function.__code__
    is_method = code.co_varnames[:1] == ("self",)
    unnamed = code.co_varnames[int(is_method) : code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    given = args[int(is_method) :]
    wanted = [name for name in named if name not in (function.__kwdefaults__ or {})]
    call = _called(function, args)
    if not unnamed:
        is_clear = len(given) == len(wanted) == 1 and wanted[0] not in kwargs
        value = shown(given[0]) if isinstance(given[0], str | os.PathLike) else "…"
        example = f"{wanted[0]}={value}" if is_clear else f"{named[0]}=…"
        return TypeError(f"{call} takes all arguments by name; write {example}")
    arguments = "argument" if len(unnamed) == 1 else "arguments"
    return TypeError(
        f"{call} takes {len(unnamed)} {arguments} without a name ({', '.join(unnamed)}), and there "
        f"are {len(given)}; give the others by name, such as {(wanted or list(named))[0]}=…"
    )
