"""Tables, labels and splits of nodes: what a `Dataset` has, and each type of a `TypedDataset`.

What needs reading is read when it is first asked for, and then kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._dataset.label_classes import count_classes
from graphmount._dataset.opening import check_split_ids, read_split_ids
from graphmount._mount.node_ids import mark_ids
from graphmount._support.display import NamedParts
from graphmount._support.threads.shared_property import shared_property

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph


class NodeParts:
    """What is known of some nodes, by what the description of a dataset says of them.

    Attributes:
        path: What messages call these nodes.
        num_nodes: How many there are.
    """

    path: str
    num_nodes: int
    _entry: Mapping[str, Any]
    #: What a user writes for these nodes.
    _called: str = "ds"

    @property
    def _space(self) -> Graph | NodeSpace:
        """What has the order of the nodes."""
        raise NotImplementedError

    def _table(self, file: str) -> FeatureStore:
        """A file of the dataset."""
        raise NotImplementedError

    @shared_property
    def features(self) -> Mapping[str, FeatureStore]:
        """The tables of the nodes, by name: row i belongs to node i."""
        return self._tables("features", "table of features")

    @shared_property
    def labels(self) -> NDArray[Any] | None:
        """The labels of the nodes, as a read-only view of their file; None if there are none.

        They are a vector if there is one label for each node. In a reordered dataset they are
        `NodeRows`, which refuse plain integers as an index.
        """
        store = self._label_store()
        if store is None:
            return None
        labels = store.numpy().view(np.ndarray)
        is_column = labels.ndim == 2 and labels.shape[1] == 1
        return self._space._mark_rows(  # noqa: SLF001  (a friend)
            labels.reshape(-1) if is_column else labels
        )

    @property
    def classes(self) -> list[str] | None:
        """The texts of labels that became numbers: label i stands for the text `classes[i]`.

        The texts are sorted. None if the labels were numbers in the source. If the dataset was
        compiled with a number for missing labels, such as -1, labels may also have that number.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("teams", edges=([0], [1]), labels=["red", "blue"])
            >>> ds = gm.Dataset("teams")
            >>> ds.classes, [ds.classes[label] for label in ds.labels[ds.to_internal([0, 1])]]
            (['blue', 'red'], ['red', 'blue'])
        """
        classes = self._entry.get("classes")
        return None if classes is None else list(classes)

    @shared_property
    def num_classes(self) -> int:
        """How many classes the labels have: what the last layer of a classifier has to tell apart.

        Of labels that were text, `len(classes)`. Of whole numbers, the largest label plus one;
        labels that are missing, as -1 or NaN, do not count. Of a table with several columns, such
        as one of yes and no for each class, the number of columns. Numbers are read when this is
        first asked for.

        Raises:
            ValueError: There are no labels, or they are no numbers of classes.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("teams", edges=([0], [1]), labels=["red", "blue"])
            >>> gm.Dataset("teams").num_classes
            2
        """
        store = self._label_store()
        if store is None:
            raise ValueError(
                f"{self.path} has no labels; ds = {self._called}.set_labels(…) gives it some"
            )
        return len(self.classes) if self.classes is not None else count_classes(store)

    def _label_store(self) -> FeatureStore | None:
        """The table of the labels."""
        file = self._entry["labels"]
        return None if file is None else self._table(file)

    @shared_property
    def splits(self) -> Mapping[str, NDArray[np.int64]]:
        """Internal ids of nodes by the name of the split, as read-only views of their files.

        They are read and checked on first use.
        """
        stores = self._tables("splits", "split")
        for name, store in stores.items():
            check_split_ids(store, name, self.num_nodes)
        return NamedParts(
            "split",
            {name: mark_ids(store.numpy(), self._space.order) for name, store in stores.items()},
        )

    def _split_names(self) -> list[str]:
        return list(self._entry["splits"])

    def _read_split(self, name: str) -> NDArray[np.int64]:
        """A copy of a split, checked: views of its file may change.

        Raises:
            ValueError: There is no such split.
        """
        splits = self._entry["splits"]
        if name not in splits:
            raise ValueError(f"{self.path} has no split {name!r}; there are {sorted(splits)}")
        return read_split_ids(self._table(splits[name]), name, self.num_nodes)

    def _tables(self, kind: str, what: str) -> Mapping[str, FeatureStore]:
        return NamedParts(
            what, {name: self._table(file) for name, file in self._entry[kind].items()}
        )
