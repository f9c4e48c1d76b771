"""How a dataset of many node types grows: parts of a type or of a relation come and go, one by one.

These are the tables, labels, times and splits of a type, and the tables of a relation. What is
open stays as it is; each call gives the whole dataset as it is afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os

    from graphmount._compile.changes.targets import Target
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._dataset.typed_opening import TypedFiles
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.progress import ProgressOption

_NODE_KINDS = ("features", "splits", "labels", "timestamps")


class _Changing:
    """What changes of types and of relations share."""

    _files: TypedFiles

    def _target(self) -> Target:
        raise NotImplementedError

    def _reopened(self) -> TypedDataset:
        from graphmount._dataset.typed_dataset import TypedDataset

        return TypedDataset(self._files.path, advice=self._files.advice)

    def _set_table(
        self,
        kind: str,
        name: str | None,
        source: Any,  # noqa: ANN401
        *,
        overwrite: bool = True,
        **work: Any,  # noqa: ANN401
    ) -> TypedDataset:
        from graphmount._compile.changes import operations

        operations.add_table(self._target(), kind, name, source, overwrite=overwrite, **work)
        return self._reopened()

    def _remove(self, name: str, kind: str | None, kinds: tuple[str, ...]) -> TypedDataset:
        from graphmount._compile.changes import operations

        operations.remove(self._target(), name, kind=kind, kinds=kinds)
        return self._reopened()


class ChangingNodes(_Changing):
    """The methods of a `NodeType` that change the folder of its dataset.

    A change happens completely or not at all. Programs that have the dataset open keep the old
    state, in all threads and processes; programs that open it afterwards see the new one.
    """

    def _target(self) -> Target:
        from graphmount._compile.changes.targets import NodesTarget

        return NodesTarget(self._files, self)  # type: ignore[arg-type]

    def add_features(
        self,
        name: str,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        overwrite: bool = False,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> TypedDataset:
        """Adds a table of the nodes of this type, without compiling the rest again.

        Args:
            name: The name of the table.
            source: Any source that `compile_features` takes, or a `Table`, which also has options.
                Without keys, rows must be in the order of the nodes in the source. If the source is
                a `.gd` file that knows that it has the order of this type, rows are taken in that
                order.
            overwrite: Whether to replace a table of the same name.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            FileExistsError: There is a table of this name, and `overwrite` is False.
            OrderError: The table has more or fewer rows than there are nodes, or another order.
            SourceError: Something in the source is wrong; the message says what and where.
            BudgetError: There are more nodes than `memory` has room for.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "grown", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])},
            ... )
            >>> ds = gm.Dataset("grown")
            >>> ds = ds.nodes["book"].add_features("pages", [120, 80, 310])
            >>> books = ds.nodes["book"]
            >>> books.features["pages"].gather(books.to_internal([2]))
            array([310])
        """
        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        return self._set_table("features", name, source, overwrite=overwrite, **options)

    def set_labels(
        self,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> TypedDataset:
        """Gives the nodes of this type labels. Labels that they have are replaced.

        Args:
            source: A source with one column, or a `Table`, which also has options. Rows are in the
                order of the nodes in the source, or have keys. Text becomes numbers of classes, and
                `NodeType.classes` has the texts.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            OrderError: There are more or fewer labels than nodes, or they are in another order.
            SourceError: Something in the source is wrong; the message says what and where.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "labelled", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
            ... )
            >>> ds = gm.Dataset("labelled").nodes["book"].set_labels(["prose", "verse", "prose"])
            >>> ds.nodes["book"].labels, ds.nodes["book"].classes
            (NodeRows([0, 1, 0]), ['prose', 'verse'])
        """
        return self._set_table("labels", None, source, memory=memory, tmp=tmp, progress=progress)

    def set_timestamps(
        self,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> TypedDataset:
        """Gives the nodes of this type times. Times that they have are replaced.

        Args:
            source: A source with one column of int64, or a `Table`, which also has options. Dates
                become seconds since 1970. Rows are in the order of the nodes in the source, or have
                keys.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            OrderError: There are more or fewer times than nodes, or they are in another order.
            SourceError: Something in the source is wrong; the message says what and where.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "dated", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
            ... )
            >>> ds = gm.Dataset("dated").nodes["book"].set_timestamps([1999, 2004, 1987])
            >>> ds.nodes["book"].timestamps
            NodeRows([1999, 2004, 1987])
        """
        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        return self._set_table("timestamps", None, source, **options)

    def set_split(self, name: str, nodes: Any, *, ids: IdReading | None = None) -> TypedDataset:  # noqa: ANN401
        """Adds a split of the nodes of this type, or replaces the split of this name.

        Args:
            name: The name of the split.
            nodes: The nodes of the split: ids, a mask with one bool for each node, or the path of a
                file with one column of ids.
            ids: Which ids `nodes` are: "internal" for ids of the dataset, "external" for ids of its
                source. If the type kept the order of its source, both are the same and None is
                enough; so it is for ids that the dataset returned (`NodeIds`).

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            IdError: A node does not exist, or it is unknown which ids these are.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "divided", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])},
            ... )
            >>> ds = gm.Dataset("divided").nodes["book"].set_split("train", [2], ids="external")
            >>> ds.nodes["book"].to_external(ds.nodes["book"].splits["train"])
            array([2])
        """
        from graphmount._compile.changes import operations

        operations.set_split(self._target(), name, nodes, ids=ids)
        return self._reopened()

    def remove(
        self,
        name: str,
        *,
        kind: Literal["features", "splits", "labels", "timestamps"] | None = None,
    ) -> TypedDataset:
        """Removes a table or a split of this type; or its "labels" or "timestamps".

        Loaders that are reading it go on, and so does everything else that has the dataset open.

        Args:
            name: The name of the table or split; "labels" for the labels, "timestamps" for the
                times.
            kind: What to remove, if several things have this name: "features", "splits", "labels"
                or "timestamps".

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            ValueError: There is nothing of this name, or several have it and `kind` does not say
                which; the message says what there is.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "shrunk", nodes={"book": gm.Nodes(labels=[0, 1, 0]), "reader": gm.Nodes()},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])},
            ... )
            >>> ds = gm.Dataset("shrunk").nodes["book"].remove("labels")
            >>> ds.nodes["book"].labels is None
            True
        """
        return self._remove(name, kind, _NODE_KINDS)


class ChangingEdges(_Changing):
    """The methods of a `Relation` that change the folder of its dataset.

    A relation and its reverse have the same edges, so that a change of the one is one of the other
    too. Each change happens completely or not at all.
    """

    def _target(self) -> Target:
        from graphmount._compile.changes.targets import EdgesTarget

        return EdgesTarget(self._files, self.edge_type)  # type: ignore[attr-defined]

    def add_features(
        self,
        name: str,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        overwrite: bool = False,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> TypedDataset:
        """Adds a table of the edges: row i belongs to row i of the source of the edges.

        If the dataset has the reverse of this relation, that gets the table too, as it does when
        `compile_dataset` makes both.

        Args:
            name: The name of the table.
            source: Any source that `compile_features` takes, or a `Table`, which also has options.
            overwrite: Whether to replace a table of the same name.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            MissingDataError: The dataset was compiled without `source_rows=True`.
            FileExistsError: There is a table of this name, and `overwrite` is False.
            OrderError: The table has more or fewer rows than the source had edges.
            SourceError: Something in the source is wrong; the message says what and where.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> lends = ("reader", "lends", "book")
            >>> _ = gm.compile_dataset(
            ...     "lent", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={lends: ([0, 1, 1], [2, 2, 0])}, source_rows=True,
            ... )
            >>> ds = gm.Dataset("lent").edges[lends].add_features("days", [14, 3, 30])
            >>> ds.edges[lends].features["days"].shape
            (3,)
        """
        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        return self._set_table("edge_features", name, source, overwrite=overwrite, **options)

    def remove(self, name: str) -> TypedDataset:
        """Removes a table of the edges, from the reverse of this relation too.

        Args:
            name: The name of the table.

        Returns:
            The whole dataset as it is now. The one that is open stays as it was.

        Raises:
            ValueError: There is no table of this name; the message says what there is.
            DatasetChangedError: The folder has other nodes or relations by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> lends = ("reader", "lends", "book")
            >>> _ = gm.compile_dataset(
            ...     "returned", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes()},
            ...     edges={lends: ([0, 1, 1], [2, 2, 0])},
            ...     edge_features={lends: {"days": [1, 2, 3]}},
            ... )
            >>> sorted(gm.Dataset("returned").edges[lends].remove("days").edges[lends].features)
            []
        """
        return self._remove(name, None, ("edge_features",))
