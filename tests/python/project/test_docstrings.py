"""Docstrings of public names: each has one, with an example and a sentence for every argument."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
import textwrap
from types import FunctionType, ModuleType

import pytest
from public_names import public_members

SECTION = re.compile(
    r"^(?P<title>Args|Attributes|Raises):\n(?P<body>(?:(?: .*)?\n)+)", re.MULTILINE
)
ENTRY = re.compile(r"^\*{0,2}(?P<names>\w+(?:, \w+)*): (?P<text>.*(?:\n +.*)*)", re.MULTILINE)

# Texts that send the reader elsewhere instead of explaining: as a whole, or in a part of them.
REFERENCE = re.compile(
    r"^(see|as (for|in|with|of|`)|the same (as|for)|same as|those of|that of)\b"
    r"|^(times|labels) of these"
    r"|\bsee there\b|\bas (for|of|in) `|\bas there\b(?! (is|are))"
    r"|\band so (for|are)\b|\bas the next\b",
    re.IGNORECASE,
)


def entries(docstring: str, title: str) -> dict[str, str]:
    """The entries of a section of a docstring, by name; those of several names count for each."""
    found: dict[str, str] = {}
    for section in SECTION.finditer(docstring + "\n"):
        if section["title"] == title:
            for entry in ENTRY.finditer(textwrap.dedent(section["body"])):
                text = " ".join(entry["text"].split())
                found |= dict.fromkeys(entry["names"].split(", "), text)
    return found


def docstring_of(value: object) -> str:
    """Its own docstring: that of a class, and not of the class it is derived from."""
    return inspect.cleandoc(getattr(value, "__doc__", None) or "")


def unexplained(value: object) -> list[str]:
    """The parameters of a callable that its docstring says nothing about."""
    if inspect.isclass(value):
        if issubclass(value, BaseException | enum.Enum):
            return []
        if hasattr(value, "__required_keys__"):  # a dict with types
            names, title = list(inspect.get_annotations(value)), "Attributes"
        elif dataclasses.is_dataclass(value):
            own = [field for field in dataclasses.fields(value) if not field.name.startswith("_")]
            inherited = {
                field.name for other in explaining(value) for field in dataclasses.fields(other)
            }
            names, title = [each.name for each in own if each.name not in inherited], "Attributes"
        else:
            constructor = next(
                vars(base)["__init__"] for base in value.__mro__ if "__init__" in vars(base)
            )
            if not getattr(constructor, "__module__", "").startswith("graphmount"):
                return []  # an array of NumPy, which calls make and no user
            names, title = parameters(constructor), "Args"
    else:
        value = getattr(value, "__func__", value)
        names, title = parameters(value), "Args"
    explained = entries(docstring_of(value), title)
    return [name for name in names if name not in explained and not is_named(name, explained)]


def explaining(value: type) -> list[type]:
    """Public classes that explain fields of a dataclass: its bases, or one that it names."""
    named = re.findall(r"all attributes of an? `(\w+)`", docstring_of(value))
    return [
        other
        for other in public_members().values()
        if inspect.isclass(other)
        and dataclasses.is_dataclass(other)
        and other is not value
        and (issubclass(value, other) or other.__name__ in named)
    ]


def is_named(name: str, explained: dict[str, str]) -> bool:
    """Whether the entry of `**options` names an option of a public dict, which explains it."""
    text = explained.get("options", "")
    return f"`{name}`" in text and any(
        f"`{each.__name__}`" in text and name in inspect.get_annotations(each)
        for each in public_members().values()
        if hasattr(each, "__required_keys__") and inspect.isclass(each)
    )


def parameters(function: object) -> list[str]:
    """Names of the arguments of a function, with the options that `**options` stands for."""
    assert callable(function)
    names: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        typed = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        if typed:
            names += typed_dict(typed[1]).__annotations__
        elif name not in ("self", "cls") and not name.startswith("_"):
            names.append(name)
    return names


def typed_dict(name: str) -> type:
    """A dict with types, which annotations name without importing it."""
    modules = [module for key, module in sys.modules.items() if key.startswith("graphmount.")]
    found: set[type] = {vars(module)[name] for module in modules if name in vars(module)}
    (only,) = found
    return only


def references(docstring: str) -> list[str]:
    """The entries of a docstring that send the reader elsewhere."""
    return [
        f"{name}: {text}"
        for title in ("Args", "Attributes", "Raises")
        for name, text in entries(docstring, title).items()
        if REFERENCE.search(text)
    ]


def test_every_public_thing_has_a_docstring() -> None:
    missing = [name for name, value in public_members().items() if not inspect.getdoc(value)]
    assert missing == []


def test_every_public_class_and_function_has_an_example() -> None:
    missing = [
        name
        for name, value in public_members().items()
        if not isinstance(value, property | ModuleType)
        and not name.rpartition(".")[2].startswith("on_")  # called by a trainer, and by no user
        and "Examples:" not in (inspect.getdoc(value) or "")
    ]
    assert missing == []


def test_every_argument_is_explained() -> None:
    missing = [
        f"{name}({argument})"
        for name, value in public_members().items()
        if inspect.isclass(value) or isinstance(value, FunctionType | classmethod | staticmethod)
        for argument in unexplained(value)
    ]
    assert missing == []


def test_no_argument_is_explained_elsewhere() -> None:
    found = [
        f"{name}: {text}"
        for name, value in public_members().items()
        if not isinstance(value, ModuleType)
        for text in references(docstring_of(value))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "See there.",
        "As for `compile_dataset`, and so for the next ones.",
        "As in `walk`.",
        "The same as above.",
        "Whose ids, as for `NeighborLoader`.",
        "Times of these.",
    ],
)
def test_a_reference_is_recognised(text: str) -> None:
    assert references(f"Does it.\n\nArgs:\n    first: {text}\n    second: A number.\n") == [
        f"first: {text}"
    ]


def test_an_argument_without_a_sentence_is_recognised() -> None:
    def documented(first: int, *more: int, last: int) -> None:
        """Does it.

        Args:
            first: A number,
                over two lines.
            *more: Other numbers.
        """

    assert unexplained(documented) == ["last"]
    assert entries(docstring_of(documented), "Args")["first"] == "A number, over two lines."
