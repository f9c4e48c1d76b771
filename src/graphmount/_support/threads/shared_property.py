"""A property that is computed when it is first asked for, and then kept.

All threads get the same value: if several compute it at the same time, the first result is kept.
There is no lock, because in a child of `fork` it could be held for ever; `cached_property` of
Python 3.11 has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class shared_property(Generic[T]):  # noqa: N801  (as Python's own)
    """Decorates a method of no arguments.

    Examples:
        >>> from graphmount._support.threads.shared_property import shared_property
        >>> class Circle:
        ...     @shared_property
        ...     def points(self):
        ...         return [0, 1]
        >>> circle = Circle()
        >>> circle.points is circle.points
        True
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> Self | T:
        if instance is None:
            return self
        # This is not called again: an attribute of the object comes before this descriptor.
        kept: T = vars(instance).setdefault(self._name, self._compute(instance))
        return kept
