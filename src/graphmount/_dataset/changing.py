"""How a dataset grows: tables, labels and splits that are added to it or removed, one by one.

What is open stays as it is; each call gives the dataset as it is afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    import os

    from graphmount._compile.changes.targets import Target
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.progress import ProgressOption

_KINDS = ("features", "edge_features", "splits", "labels")


class Changing:
    """The methods of a `Dataset` that change its folder.

    A change happens completely or not at all. Programs that have the dataset open keep the old
    state, in all threads and processes; programs that open it afterwards see the new one.
    """

    def _reopened(self) -> Self:
        raise NotImplementedError

    def _target(self) -> Target:
        from graphmount._compile.changes.targets import OneTypeTarget

        return OneTypeTarget(self)  # type: ignore[arg-type]

    def add_features(
        self,
        name: str,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        overwrite: bool = False,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> Self:
        """Adds a table of the nodes, without compiling the rest again.

        Args:
            name: The name of the table.
            source: Any source that `compile_features` takes, or a `Table`, which also has options.
                Without keys, rows must be in the order of the dataset's source. If the source is a
                `.gd` file that knows that it has the dataset's own order, such as one that
                `layerwise_inference` wrote, rows are taken in that order.
            overwrite: Whether to replace a table of the same name.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The dataset as it is now. This one stays as it was.

        Raises:
            FileExistsError: There is a table of this name, and `overwrite` is False.
            OrderError: The table has more or fewer rows than there are nodes, or another order.
            SourceError: Something in the source is wrong; the message says what and where.
            BudgetError: There are more nodes than `memory` has room for.
            DatasetChangedError: The folder has another graph by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("ages", edges=([3, 3, 1], [0, 1, 2]))
            >>> ds = gm.Dataset("ages").add_features("age", [31, 25, 47, 19])
            >>> ds.features["age"].gather(ds.to_internal([0, 3]))
            array([31, 19])
        """
        from graphmount._compile.changes import operations

        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        operations.add_table(
            self._target(), "features", name, source, overwrite=overwrite, **options
        )
        return self._reopened()

    def add_edge_features(
        self,
        name: str,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        overwrite: bool = False,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> Self:
        """Adds a table of the edges: row i belongs to row i of the source of the edges.

        Args:
            name: The name of the table.
            source: Any source that `compile_features` takes, or a `Table`, which also has options.
            overwrite: Whether to replace a table of the same name.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The dataset as it is now. This one stays as it was.

        Raises:
            MissingDataError: The dataset was compiled without `source_rows=True`.
            FileExistsError: There is a table of this name, and `overwrite` is False.
            OrderError: The table has more or fewer rows than the source had edges.
            SourceError: Something in the source is wrong; the message says what and where.
            DatasetChangedError: The folder has another graph by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("years", edges=([3, 3, 1], [0, 1, 2]), source_rows=True)
            >>> ds = gm.Dataset("years").add_edge_features("since", [2001, 2002, 2003])
            >>> ds.edge_features["since"].shape
            (3,)
        """
        from graphmount._compile.changes import operations

        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        operations.add_table(
            self._target(), "edge_features", name, source, overwrite=overwrite, **options
        )
        return self._reopened()

    def set_labels(
        self,
        source: Any,  # noqa: ANN401  (whatever has rows)
        *,
        memory: int | str = "2GiB",
        tmp: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> Self:
        """Gives the nodes labels. Labels that they have are replaced.

        Args:
            source: A source with one column, or a `Table`, which also has options. Rows are in the
                order of the dataset's source, or have keys. Text becomes numbers of classes, and
                `Dataset.classes` has the texts.
            memory: How much memory to use, besides a source that is in memory.
            tmp: The folder for temporary files; beside the dataset if None.
            progress: A callback of (bytes done, bytes in all); True or False to show a progress bar
                or not. None shows one if the work takes a while.

        Returns:
            The dataset as it is now. This one stays as it was.

        Raises:
            OrderError: There are more or fewer labels than nodes, or they are in another order.
            SourceError: Something in the source is wrong; the message says what and where.
            DatasetChangedError: The folder has another graph by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("marked", edges=([3, 3, 1], [0, 1, 2]))
            >>> ds = gm.Dataset("marked").set_labels([5, 6, 7, 8])
            >>> ds.labels[ds.to_internal([3])]
            array([8])
        """
        from graphmount._compile.changes import operations

        options: dict[str, Any] = {"memory": memory, "tmp": tmp, "progress": progress}
        operations.add_table(self._target(), "labels", None, source, overwrite=True, **options)
        return self._reopened()

    def set_split(self, name: str, nodes: Any, *, ids: IdReading | None = None) -> Self:  # noqa: ANN401
        """Adds a split, or replaces the split of this name.

        Args:
            name: The name of the split.
            nodes: The nodes of the split: ids, a mask with one bool for each node, or the path of a
                file with one column of ids.
            ids: Which ids `nodes` are: "internal" for ids of the dataset, "external" for ids of its
                source. If the dataset kept the order of its source, both are the same and None is
                enough; so it is for ids that the dataset returned (`NodeIds`).

        Returns:
            The dataset as it is now. This one stays as it was.

        Raises:
            IdError: A node does not exist, or it is unknown which ids these are.
            DatasetChangedError: The folder has another graph by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("folds", edges=([3, 3, 1], [0, 1, 2]))
            >>> ds = gm.Dataset("folds").set_split("valid", [1, 2], ids="external")
            >>> ds.to_external(ds.splits["valid"])
            array([1, 2])
        """
        from graphmount._compile.changes import operations

        operations.set_split(self._target(), name, nodes, ids=ids)
        return self._reopened()

    def remove(
        self,
        name: str,
        *,
        kind: Literal["features", "edge_features", "splits", "labels"] | None = None,
    ) -> Self:
        """Removes a table or a split; or the labels, as "labels".

        Loaders that are reading it go on, and so does everything else that has the dataset open.

        Args:
            name: The name of the table or split; "labels" for the labels.
            kind: What to remove, if several things have this name: "features", "edge_features",
                "splits" or "labels".

        Returns:
            The dataset as it is now. This one stays as it was.

        Raises:
            ValueError: There is nothing of this name, or several have it and `kind` does not say
                which; the message says what there is.
            DatasetChangedError: The folder has another graph by now.
            BlockingIOError: Another process is changing the dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("trained", edges=([3], [0]), splits={"train": [0]})
            >>> sorted(gm.Dataset("trained").remove("train").splits)
            []
        """
        from graphmount._compile.changes import operations

        operations.remove(self._target(), name, kind=kind, kinds=_KINDS)
        return self._reopened()
