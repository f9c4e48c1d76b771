"""Node types and relations as they are given: names that can be files, and ends that exist."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from graphmount._dataset.typed_description import name_problem, shown_relation
from graphmount._support.shown import shown
from graphmount.errors import BudgetError, OrderError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmount._dataset.typed.results import EdgeType

#: Which relations also get their reverse.
Reverse: TypeAlias = "bool | Literal['merge'] | Sequence[EdgeType]"

_NAMED_ERRORS = (SourceError, OrderError, BudgetError, ValueError, TypeError)


@dataclass(frozen=True, kw_only=True)
class GivenRelation:
    """A relation that is to be compiled.

    Attributes:
        edge_type: The type of the sources, the name, and the type of the destinations.
        edges: Its edges, as they are given.
        reverse: The relation of the same edges turned round, if that is to be made too.
        is_merged: Whether edges within one type run both ways instead.
    """

    edge_type: EdgeType
    edges: Any
    reverse: EdgeType | None = None
    is_merged: bool = False

    @property
    def has_two_types(self) -> bool:
        """Whether it leads from one node type to another."""
        return self.edge_type[0] != self.edge_type[2]


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Puts in front of an error which part of the dataset it is about."""
    try:
        yield
    except _NAMED_ERRORS as error:
        if type(error) not in _NAMED_ERRORS:
            raise
        raise type(error)(f"{what}: {error}") from error


def check_node_types(nodes: object) -> None:
    """Raises unless these are nodes by the names of their types.

    Raises:
        TypeError, ValueError: They are not, or a name cannot be one.
    """
    if not isinstance(nodes, Mapping):
        raise TypeError(f"nodes= is a dict of gm.Nodes by node type, not {shown(nodes)}")
    if not nodes:
        raise ValueError("nodes= is empty: a dataset has at least one node type")
    for name in nodes:
        problem = name_problem(name)
        if problem is not None:
            raise ValueError(f"nodes: {shown(name)} cannot be a node type: it {problem}")
    _require_own_folders([(name,) for name in nodes], "nodes")


def given_relations(edges: object, nodes: Mapping[str, Any], reverse: Any) -> list[GivenRelation]:  # noqa: ANN401
    """The relations in their order, each with its reverse.

    Args:
        edges: As they are given: sources of edges by relation.
        nodes: The node types.
        reverse: Which relations get their reverse.

    Raises:
        TypeError, ValueError: A relation is none, has an unknown node type, or is there twice.
    """
    if not isinstance(edges, Mapping):
        raise TypeError(
            "with nodes=, edges= is a dict of edges by relation, such as {('author', 'writes', "
            f"'paper'): …}}, not {shown(edges)}"
        )
    for edge_type in edges:
        _check_relation(edge_type, nodes)
    _require_own_folders(list(edges), "edges")
    chosen = _chosen(reverse, edges)
    relations = []
    for edge_type, source in edges.items():
        turned = edge_type[2], f"rev_{edge_type[1]}", edge_type[0]
        is_square = edge_type[0] == edge_type[2]
        is_merged = isinstance(reverse, str) and is_square
        is_turned = edge_type in chosen and not is_merged
        if is_turned and turned in edges:
            raise ValueError(
                f"reverse= would make {shown_relation(turned)}, which edges= has already; leave "
                f"{shown_relation(edge_type)} out of reverse=[…]"
            )
        if is_turned and (problem := name_problem(turned[1])) is not None:
            raise ValueError(f"reverse: {turned[1]!r} cannot be a relation: it {problem}")
        relations.append(
            GivenRelation(
                edge_type=edge_type,
                edges=source,
                reverse=turned if is_turned else None,
                is_merged=is_merged,
            )
        )
    return relations


def _require_own_folders(names: list[tuple[str, ...]], argument: str) -> None:
    """Raises for names that are one folder where file systems do not tell A from a."""
    seen: dict[tuple[str, ...], tuple[str, ...]] = {}
    for one in names:
        folded = tuple(name.casefold() for name in one)
        if folded in seen:
            first, second = (part[0] if len(part) == 1 else part for part in (seen[folded], one))
            raise ValueError(
                f"{argument}: {first!r} and {second!r} differ only in upper and lower case, and "
                "would be one folder on some systems; rename one of them"
            )
        seen[folded] = one


def _check_relation(edge_type: object, nodes: Mapping[str, Any]) -> None:
    if not isinstance(edge_type, tuple) or len(edge_type) != 3:
        raise TypeError(
            f"edges: {shown(edge_type)} is no relation; that is a tuple of the type of its "
            "sources, its name, and the type of its destinations"
        )
    for name in edge_type:
        problem = name_problem(name)
        if problem is not None:
            raise ValueError(f"edges: {shown(name)} in {shown(edge_type)} {problem}")
    for end in (edge_type[0], edge_type[2]):
        if end not in nodes:
            raise ValueError(
                f"edges: {shown_relation(edge_type)} has the node type {end!r}, which nodes= has "
                f"not; there are {', '.join(map(repr, nodes))}"
            )


def _chosen(reverse: Any, edges: Mapping[EdgeType, Any]) -> set[EdgeType]:  # noqa: ANN401
    """The relations that get their reverse."""
    if isinstance(reverse, bool) or (isinstance(reverse, str) and reverse == "merge"):
        return set(edges) if reverse else set()
    if not isinstance(reverse, list | tuple | set | frozenset):
        raise ValueError(  # noqa: TRY004  (the type may be right)
            f"reverse={shown(reverse)}; it is True, False, 'merge', or a list of relations"
        )
    for relation in reverse:
        if not isinstance(relation, tuple) or relation not in edges:
            raise ValueError(
                f"reverse: there is no relation {shown(relation)}; there are "
                f"{', '.join(map(shown_relation, edges))}"
            )
    return set(reverse)
