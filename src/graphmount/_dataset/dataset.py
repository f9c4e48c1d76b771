"""A compiled folder: one graph, the tables of its nodes, labels and splits, in one id space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from graphmount._dataset.changing import Changing
from graphmount._dataset.node_parts import NodeParts
from graphmount._dataset.opening import open_files, require_contents
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._dataset.typed_opening import is_typed_folder
from graphmount._mount.node_ids import mark_ids, order_of, require_marked
from graphmount._mount.node_reading import as_nodes, require_keys
from graphmount._support.display import Displayed, one_line
from graphmount._support.foreign_words import OPENING_WORDS
from graphmount._support.keywords import advises
from graphmount._support.sizes import format_bytes
from graphmount._support.threads.shared_property import shared_property

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    import torch
    from numpy.typing import ArrayLike, NDArray

    from graphmount import pyg
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.handle import Advice, Content


class Dataset(Displayed, NodeParts, Changing):
    """A mounted folder of `compile_dataset`.

    Graph, tables, labels and splits of a dataset all number the nodes in the same way: by internal
    ids. `to_internal` and `to_external` translate between these and the ids of the source, and
    loaders do so with `ids="external"`. If the dataset is in another order than its source, the ids
    that it returns are marked as internal (`NodeIds`), and it refuses plain integers, because they
    may be ids of the source.

    All files are mounted when the dataset is opened. If the folder is replaced later, an open
    dataset stays as it was. A pickled dataset holds its path and facts that identify its files, so
    that a worker process opens the same version or gets an error. Many threads may use a dataset at
    the same time and share its handles, and so may a child of `fork`.

    Args:
        path: The path of the folder.
        advice: How the files will be used. "auto", the default, suits most uses; `Graph.advise`
            explains the other choices.

    Attributes:
        path: The path of the folder.
        num_nodes: The number of nodes of the graph.
        num_edges: The number of list entries of one direction. An undirected edge counts twice.
        description: The content of `dataset.json`, as a dict.

    Raises:
        FileNotFoundError: There is no such folder, it is not a dataset, or a file is missing.
        FormatError: The description or a file is damaged, is of a later version, or is a link.
        OrderError: A table has more or fewer rows than there are nodes or edges, or another order.
        DatasetChangedError: The folder was replaced while it was being opened, or has files of
            another version.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset(
        ...     "social", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x},
        ...     labels=[0, 1, 0, 1], splits={"train": [0, 3]},
        ... )
        >>> ds = gm.Dataset("social")
        >>> ds.to_external([0])  # node 3 of the source is what sampling will meet most often
        array([3])
        >>> ds.features["x"].numpy()[0], ds.labels[0], ds.splits["train"]
        (array([6., 7.], dtype=float32), np.int64(1), NodeIds([2, 0]))
    """

    def __new__(cls, path: str | os.PathLike[str] = "", **options: Any) -> Self:  # noqa: ANN401
        """A folder of many node types is opened as a `TypedDataset`."""
        if cls is Dataset and is_typed_folder(path):
            return cast("Self", TypedDataset(path, **options))
        return super().__new__(cls)

    @advises(OPENING_WORDS)
    def __init__(self, path: str | os.PathLike[str], *, advice: Advice = "auto") -> None:
        self._advice: Advice = advice
        self._files = open_files(path, advice=advice)
        self._contents = self._files.contents()
        self.path = self._files.path
        self.description = self._files.description
        self._entry = self.description
        self.num_nodes: int = self.description["num_nodes"]
        self.num_edges: int = self.description["num_edges"]

    def __repr__(self) -> str:
        return one_line(
            f"<Dataset {self.path!r}: {self.num_nodes:,} nodes, {self.num_edges:,} edges, "
            f"features {sorted(self.description['features'])}{self._labels_and_splits()}>"
        )

    def _labels_and_splits(self) -> str:
        files = self.description
        classes = files.get("classes")
        labels = "" if classes is None else f" of {len(classes):,} classes"
        labels = "" if files.get("labels") is None else f", labels{labels}"
        return labels + (f", splits {sorted(files['splits'])}" if files["splits"] else "")

    def _shown_fields(self) -> dict[str, object]:
        files = self.description
        facts: dict[str, object] = {
            "path": self.path,
            "nodes": f"{self.num_nodes:,}",
            "edges": f"{self.num_edges:,}",
            "order": str(files.get("order")),
        }
        for kind, what in (("features", "features"), ("edge_features", "features of edges")):
            for name, file in files[kind].items():
                facts[f"{what} {name!r}"] = _size_of(self._table(file))
        store = self._label_store()
        if store is not None:
            classes = files.get("classes")
            named = "" if classes is None else f", {len(classes):,} classes by name"
            facts["labels"] = f"{_size_of(store)}{named}"
        for name, file in files["splits"].items():
            facts[f"split {name!r}"] = _size_of(self._table(file))
        return facts

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self._advice, self._contents)

    def _reopened(self) -> Self:
        return type(self)(self.path, advice=self._advice)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._files.graph

    _space = graph

    @shared_property
    def edge_features(self) -> Mapping[str, FeatureStore]:
        """The tables of the edges, by name: row i belongs to edge id i."""
        return self._tables("edge_features", "table of edges")

    def to_external(self, ids: ArrayLike) -> NDArray[np.int64] | list[str]:
        """The ids that the source has for these nodes.

        Args:
            ids: Nodes of the dataset, as internal ids.

        Returns:
            An array, or a list where the ids of the source are strings.

        Raises:
            IdError: A node does not exist; or the ids are marked as those of another dataset.

        Examples:
            >>> import graphmount as gm
            >>> edges = (["a", "c"], ["b", "b"])
            >>> import polars
            >>> frame = polars.DataFrame({"from": edges[0], "to": edges[1]})
            >>> _ = gm.compile_dataset("letters", edges=frame, ids="map")
            >>> sorted(gm.Dataset("letters").to_external([0, 1, 2]))
            ['a', 'b', 'c']
        """
        if order_of(ids) != 0:
            require_marked(ids, "ids", self.graph.order)
        if self.graph.node_id_type is not None:
            return self.graph.to_external(ids)
        return as_nodes(ids, "ids", self.num_nodes)

    def to_internal(self, keys: ArrayLike | Sequence[str]) -> NDArray[np.int64]:
        """The nodes that have these ids in the source.

        Args:
            keys: Ids of the source: integers or strings.

        Raises:
            IdError: The source has no such node; the message says which.
            ValueError: The ids are already marked as internal ones (`NodeIds`).

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("pairs", edges=([0, 1, 2], [3, 3, 3]))
            >>> ds = gm.Dataset("pairs")
            >>> ds.to_external(ds.to_internal([2, 0]))
            array([2, 0])
        """
        require_keys(keys)
        if self.graph.node_id_type is not None:
            return self.graph.to_internal(keys)
        return as_nodes(keys, "keys", self.num_nodes)

    def as_internal(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Marks ids as internal ids of this dataset: for ids that were computed or stored.

        Args:
            ids: The internal ids, as an array of integers.

        Returns:
            `NodeIds`, or a plain array if the dataset is in the order of its source.

        Raises:
            IdError: A node does not exist; or the ids are marked as those of another dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("star", edges=([3, 3, 3], [0, 1, 2]))
            >>> ds = gm.Dataset("star")
            >>> ds.graph.degree(ds.as_internal([0, 1]), direction="out")
            array([3, 0])
        """
        if order_of(ids) != 0:
            require_marked(ids, "ids", self.graph.order)
        return mark_ids(as_nodes(ids, "ids", self.num_nodes), self.graph.order)

    def to_pyg(
        self, *, attributes: Iterable[str] | None = None, dtype: torch.dtype | None = None
    ) -> tuple[pyg.FeatureStore, pyg.GraphStore]:
        """The dataset in the form that PyG's loaders take: a feature store and a graph store.

        Args:
            attributes: What batches have: the names of tables, `y` for the labels, `train_mask` for
                the split `train`. All tables and the labels if None.
            dtype: What float tables and quantized tables are converted to. If None, float tables
                stay as they are and quantized ones become float32.

        Returns:
            `graphmount.pyg.FeatureStore` and `graphmount.pyg.GraphStore`, which pickle by path.

        Raises:
            ImportError: PyG is not installed.
            KeyError: There is no such attribute.

        Examples:
            >>> import torch
            >>> from torch_geometric.loader import NodeLoader
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> x = [[0.0], [1.0], [2.0], [3.0]]
            >>> _ = gm.compile_dataset("four", edges=([3, 3, 1], [0, 1, 2]), features={"x": x})
            >>> ds = gm.Dataset("four")
            >>> sampler = gm.pyg.NeighborSampler(ds, [2], ids="external")
            >>> loader = NodeLoader(ds.to_pyg(), sampler, torch.arange(4), batch_size=4)
            >>> next(iter(loader)).x.tolist()
            [[0.0], [1.0], [2.0], [3.0]]
        """
        from graphmount import pyg  # the base package needs no torch

        return pyg.FeatureStore(self, attributes=attributes, dtype=dtype), pyg.GraphStore(self)

    def _table(self, file: str) -> FeatureStore:
        return self._files.tables[file]


def _size_of(store: FeatureStore) -> str:
    if store.closed:
        return "closed"
    shape = " x ".join(f"{size:,}" for size in store.shape)
    return f"{shape} {store.dtype}, {format_bytes(store.file_bytes)}"


def open_one_type(path: str | os.PathLike[str], call: str) -> Dataset:
    """Opens a dataset for a call that is for datasets of one node type.

    Args:
        path: The folder.
        call: What messages call it.

    Raises:
        ValueError: It is a dataset of many node types.
    """
    dataset: Dataset | TypedDataset = Dataset(path)
    if isinstance(dataset, TypedDataset):
        raise ValueError(  # noqa: TRY004  (it is the folder that is wrong)
            f"{call} is for datasets of one node type, and {dataset.path} has "
            f"{len(dataset.nodes)}: {', '.join(map(repr, dataset.node_types))}"
        )
    return dataset


def _reopen(path: str, advice: Advice, contents: Mapping[str, Content] | None = None) -> Dataset:
    """How datasets unpickle: as the same files, or not at all."""
    dataset = Dataset(path, advice=advice)
    if contents is not None:
        require_contents(dataset.path, contents, dataset._contents)  # noqa: SLF001
    return dataset
