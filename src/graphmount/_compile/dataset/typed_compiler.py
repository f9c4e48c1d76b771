"""Compiling a dataset of many node types: all relations and tables into one folder.

First all edges are read, which wait in the core; then the order of each type is chosen by what all
relations say; then ids, graphs, tables and splits are written, one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphmount._compile.dataset.checks import check_edge_tables, check_notes, refuse_skips
from graphmount._compile.dataset.files import (
    OpenedTable,
    name_of,
    open_tables,
    with_columns,
    write_description,
    write_splits,
)
from graphmount._compile.dataset.labels import LABELS_FILE, with_classes
from graphmount._compile.dataset.typed_edges import (
    Budget,
    RelationIntake,
    write_relation,
)
from graphmount._compile.dataset.typed_names import check_node_types, given_relations, naming
from graphmount._compile.dataset.typed_nodes import TIMES_FILE, OpenedNodes
from graphmount._compile.dataset.typed_order import TypedOrder
from graphmount._compile.dataset.typed_space import require_space
from graphmount._compile.feature_compiler import compile_table
from graphmount._compile.output.atomic_folder import atomic_folder
from graphmount._dataset.typed_description import shown_relation
from graphmount._mount.graph import Graph
from graphmount._sources.arrow.cluster_edges import ClusterSource
from graphmount._sources.contract.batches import Skipped
from graphmount._sources.contract.tables import EdgeTable
from graphmount._sources.opening import open_edge_table
from graphmount._support.arguments import require_choice
from graphmount._support.files.temporary_folders import require_own_process
from graphmount._support.progress import ProgressOption, reporting, steps
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from graphmount._compile.dataset.typed_names import GivenRelation, Reverse
    from graphmount._compile.edges.graph_options import GraphOptions
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._sources.contract.batches import EdgeSource
    from graphmount._sources.contract.tables import OnError


@dataclass(kw_only=True)
class TypedCompiler:
    """Compiles a dataset of many node types.

    Args:
        nodes: The nodes by type, as they are given.
        edges: The edges by relation, as they are given.
        edge_features: The tables of edges by relation, as they are given.
        reverse: Which relations get their reverse.
        order: "hot" or "given".
        options: What to make of the edges of every relation.
        ids: "dense" or "map", for types that do not say.
        key_type: What ids in text files are.
        on_error: What to do with rows that cannot be used.
        notes: Sentences to keep.
        memory: The budget, in bytes.
    """

    nodes: Mapping[str, Any]
    edges: Mapping[EdgeType, Any]
    edge_features: Mapping[EdgeType, Any] | None
    reverse: Reverse
    order: Literal["hot", "given"]
    options: GraphOptions
    ids: Literal["dense", "map"]
    key_type: Literal["int", "str"] | None
    on_error: OnError
    notes: Sequence[str]
    memory: int

    def __post_init__(self) -> None:
        """Checks all that can be checked before edges are read."""
        require_choice("order", self.order, ("hot", "given"))
        require_choice("ids", self.ids, ("dense", "map"))
        check_node_types(self.nodes)
        self._relations = given_relations(self.edges, self.nodes, self.reverse)
        check_notes(self.notes)
        self.skipped = Skipped()
        self._types: dict[str, OpenedNodes] = {}
        for name, nodes in self.nodes.items():
            with naming(f"node type {name!r}"):
                self._types[name] = OpenedNodes(
                    name, nodes, ids=self.ids, on_error=self.on_error, memory=self.memory
                )
        self._sources = {one.edge_type: self._open(one) for one in self._relations}
        self._edge_tables = self._open_edge_tables()

    def _open(self, one: GivenRelation) -> EdgeSource:
        ends = (self._types[one.edge_type[0]], self._types[one.edge_type[2]])
        with naming(f"relation {shown_relation(one.edge_type)}"):
            source = open_edge_table(
                one.edges if isinstance(one.edges, EdgeTable) else EdgeTable(source=one.edges),
                ids="map" if any(end.is_mapped for end in ends) else "dense",
                key_type=self.key_type if any(end.is_mapped for end in ends) else None,
                on_error=self.on_error,
            )
            if isinstance(source, ClusterSource):
                raise ValueError(  # noqa: TRY004  (a value that means nothing here)
                    "ClusterEdges are for graphs of one node type; with nodes=, pass the dataset "
                    "itself, which is read block by block"
                )
            return source

    def _open_edge_tables(self) -> dict[EdgeType, dict[str, OpenedTable]]:
        if self.edge_features is None:
            return {}
        if not isinstance(self.edge_features, Mapping):
            raise TypeError(
                "with nodes=, edge_features= is a dict of tables by relation, not "
                f"{shown(self.edge_features)}"
            )
        if self.edge_features:
            refuse_skips(self.on_error)
        opened = {}
        for relation, tables in self.edge_features.items():
            if not isinstance(relation, tuple) or relation not in self._sources:
                known = ", ".join(map(shown_relation, self._sources))
                raise ValueError(
                    f"edge_features: edges= has no relation {shown(relation)}; there are {known}"
                )
            with naming(f"relation {shown_relation(relation)}"):
                opened[relation] = open_tables(tables, "features", on_error=self.on_error)
                check_edge_tables(self._sources[relation], opened[relation])
        return opened

    def _make_intakes(self, folder: str) -> list[RelationIntake]:
        num_cores = sum(1 + (one.reverse is not None) for one in self._relations)
        is_mapped = any(nodes.is_mapped for nodes in self._types.values())
        # Maps of ids may take half of the budget; those that wait take half of the rest.
        rest = self.memory // 2 if is_mapped else self.memory
        budget = Budget(
            finishing=self.memory // 2, waiting=rest // 2 // max(num_cores, 1), folder=folder
        )
        intakes = []
        for one in self._relations:
            options = self.options
            if self._edge_tables.get(one.edge_type):
                options = options.with_source_rows()
            with naming(f"relation {shown_relation(one.edge_type)}"):
                intakes.append(
                    RelationIntake(
                        one,
                        self._sources[one.edge_type],
                        self._types,
                        options,
                        skips=self.on_error == "skip",
                        budget=budget,
                    )
                )
        return intakes

    def _check_maps(self) -> None:
        needed = sum(nodes.map_bytes for nodes in self._types.values())
        if needed > self.memory // 2:
            raise BudgetError(
                f"the maps of ids of all node types take {format_bytes(needed)}, and they may take "
                f"half of memory=, which is {format_bytes(self.memory // 2)}; pass a larger memory="
            )

    def write(
        self,
        path: str,
        *,
        overwrite: bool,
        folder: str,
        has_tmp: bool,
        progress: ProgressOption,
    ) -> tuple[int, int]:
        """Writes the folder; returns the numbers of all nodes and edges.

        Args:
            path: The folder.
            overwrite: Whether to replace a dataset that is there.
            folder: For temporary files.
            has_tmp: Whether that is one that the user gave.
            progress: As it is given.
        """
        process = os.getpid()
        intakes = self._make_intakes(folder)
        for name, nodes in self._types.items():
            with naming(f"node type {name!r}"):
                nodes.check()
        cores = [both for intake in intakes for both in intake.cores()]
        order = TypedOrder(
            self._types, is_hot=self.order == "hot", memory=self.memory, folder=folder
        )
        order.check()
        require_space(
            self._types,
            intakes,
            self.options,
            is_hot=self.order == "hot",
            out=path,
            folder=folder,
            memory=self.memory,
        )
        num_tables = sum(len(nodes.tables) for nodes in self._types.values())
        num_tables += sum(
            len(tables) * (2 if intake.given.reverse else 1)
            for intake in intakes
            if (tables := self._edge_tables.get(intake.given.edge_type))
        )
        with (
            atomic_folder(path, overwrite=overwrite) as partial,
            closing(order),
            steps(progress, len(intakes) + 1 + len(cores) + num_tables) as next_step,
        ):
            for nodes in self._types.values():
                nodes.start()
            for intake in intakes:
                name = f"reading {intake.source.name}"
                with (
                    naming(f"relation {shown_relation(intake.given.edge_type)}"),
                    reporting(next_step(), name, in_bytes=True) as report,
                ):
                    intake.read(report, memory=self.memory, check_maps=self._check_maps)
            num_edges = sum(intake.num_rows for intake in intakes)
            for nodes in self._types.values():
                nodes.settle(num_edges)
            files = {
                name: os.path.join(partial, _type_file(name, "ids.gi")) for name in self._types
            }
            with reporting(next_step(), "ordering nodes", in_bytes=False) as report:
                spaces = order.write_ids(cores, files, report)
            num_rows = {
                intake.given.edge_type: (intake.num_rows, intake.source.name) for intake in intakes
            }
            entries = []
            for intake in intakes:
                require_own_process(process, path)
                self.skipped.add(intake.source.skipped.count, intake.source.skipped.examples)
                entries += _write_relations(intake, partial, spaces, order, next_step)

            def store(file: str, opened: OpenedTable, **belongs: Any) -> None:  # noqa: ANN401
                require_own_process(process, path)
                target = os.path.join(partial, file)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                done = compile_table(
                    opened.rows,
                    opened.table,
                    target,
                    **belongs,
                    on_error=self.on_error,
                    folder=folder if has_tmp else partial,
                    progress=next_step(),
                )
                self.skipped.add(done.skipped, list(done.skipped_examples))

            entries.sort(key=lambda entry: entry["reverse_of"] is not None)  # as PyG has them
            columns: dict[str, OpenedTable] = {}
            described = {}
            for name, nodes in self._types.items():
                with naming(f"node type {name!r}"):
                    own_ids, memory = order.load_for_rows(name)
                    for file, opened in nodes.tables.items():
                        columns[_type_file(name, file)] = opened
                        store(
                            _type_file(name, file),
                            opened,
                            graph=spaces[name],
                            new_ids=own_ids,
                            memory=memory,
                        )
                    described[name] = self._described(name, partial, spaces[name], own_ids)
            order.close()  # edges have tables, too
            for entry in entries:
                self._store_edge_tables(entry, num_rows, partial, store, columns)
            require_own_process(process, path)
            write_description(
                partial,
                order=self.order,
                node_types=described,
                edge_types=entries,
                **with_columns(
                    {
                        file: opened
                        for file, opened in columns.items()
                        if not file.endswith(f"/{TIMES_FILE}")
                    }
                ),
                notes=list(self.notes),
            )
        num_nodes = sum(space.num_nodes for space in spaces.values())
        return num_nodes, sum(entry["num_edges"] for entry in entries)

    def _described(
        self,
        name: str,
        partial: str,
        space: NodeSpace,
        new_ids: NDArray[Any] | None,
    ) -> dict[str, Any]:
        """What the description says of a node type, whose splits are written."""
        nodes = self._types[name]
        own = os.path.join(partial, _type_file(name, ""))  # made only if something is in it
        splits = write_splits(nodes.splits, own, space, new_ids=new_ids)
        tables = [file for file in nodes.tables if file not in (LABELS_FILE, TIMES_FILE)]

        def place(file: str) -> str | None:
            return _type_file(name, file) if file in nodes.tables else None

        return {
            "num_nodes": space.num_nodes,
            "order": f"{space.order:016x}",
            "ids": None if space.node_id_type is None else _type_file(name, "ids.gi"),
            "features": {name_of(file): _type_file(name, file) for file in tables},
            "labels": place(LABELS_FILE),
            "timestamps": place(TIMES_FILE),
            "splits": {split: _type_file(name, file) for split, file in splits.items()},
            **with_classes(nodes.classes),
        }

    def _store_edge_tables(
        self,
        entry: dict[str, Any],
        num_rows: Mapping[EdgeType, tuple[int, str]],
        partial: str,
        store: Any,  # noqa: ANN401
        columns: dict[str, OpenedTable],
    ) -> None:
        """Writes the tables of the edges of a relation, or of its reverse."""
        source, relation, destination = entry["relation"]
        given = entry["reverse_of"] or entry["relation"]
        original = (given[0], given[1], given[2])
        graph = Graph(os.path.join(partial, entry["graph"]))
        for file, opened in self._edge_tables.get(original, {}).items():
            target = _relation_file((source, relation, destination), file)
            with naming(f"relation {shown_relation(original)}"):
                store(
                    target,
                    opened,
                    edges=graph,
                    edge_source=num_rows[original],
                    memory=self.memory,
                )
            entry["edge_features"][name_of(file)] = target
            columns[target] = opened


def _write_relations(
    intake: RelationIntake,
    partial: str,
    spaces: Mapping[str, NodeSpace],
    order: TypedOrder,
    next_step: Callable[[], ProgressOption],
) -> list[dict[str, Any]]:
    """Writes a relation and its reverse; returns what the description says of them."""
    entries = []
    for edge_type, core in intake.cores():
        file = _relation_file(edge_type, "graph.gl")
        with reporting(next_step(), f"writing {file}", in_bytes=False) as report:
            count = write_relation(
                edge_type,
                core,
                os.path.join(partial, file),
                spaces,
                new_ids=order.load_for_edges(edge_type, core),
                report=report,
            )
        entries.append(_entry(edge_type, file, count, intake.given))
    return entries


def _type_file(name: str, file: str) -> str:
    return f"nodes/{name}/{file}"


def _relation_file(edge_type: EdgeType, file: str) -> str:
    return f"edges/{'/'.join(edge_type)}/{file}"


def _entry(edge_type: EdgeType, file: str, num_edges: int, given: GivenRelation) -> dict[str, Any]:
    return {
        "relation": list(edge_type),
        "num_edges": num_edges,
        "graph": file,
        "edge_features": {},
        "reverse_of": list(given.edge_type) if edge_type != given.edge_type else None,
    }
