"""Our own code reads mounted files by the core alone: damage and cuts are errors, wherever it does.

Views are for users. `test_nobody_looks_into_views` keeps the list of the modules that hand them
out; all others take copies, by `graphmount._mount.mapped_reads` and by `gather`.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import numpy as np
import pytest
from forge import Forgery

import graphmount as gm
import graphmount.graphzero as gz
from graphmount._loading.rows import hot_rows as _hot_rows
from graphmount._mount import mapped_reads as _mapped_reads
from graphmount._sources.objects.memory_rows import MemoryRows

PACKAGE = Path(gm.__file__).parent

#: What gives a view of a mounted file, or is one.
VIEWS = {
    "numpy",
    "tensor",
    "neighbor_lists",
    "indptr",
    "indices",
    "labels",
    "splits",
    "list_section",
    "private_list_section",
    "shared_view",
    "private_view",
    "dlpack_view",
    "_section",
    "_private_section",
    "_private_view",
}
_OWN = "an attribute of something else, in memory"
#: Which modules may use which of these words, and why. No other may.
ALLOWED = {
    "_loading/batches/batch_parts.py": {"labels": "of a batch, in memory"},
    "_loading/batches/typed_batch.py": {"labels": "of a batch, in memory"},
    "_loading/data/loader_data.py": {"labels": "a store, whose rows are gathered"},
    "torch/epoch.py": {"tensor": "of torch"},
    "torch/batches/layer_matrices.py": {"indptr": "of a batch, in memory"},
    "torch/nn/edges.py": {"numpy": "of torch"},
    "torch/batches/sparse.py": {"numpy": "of torch"},
    "torch/nn/gin_conv.py": {"tensor": "of torch"},
    "_compile/dataset/from_layout.py": {"labels": _OWN, "splits": _OWN},
    "_compile/cache/content_key.py": {"numpy": "of torch"},
    "_sources/arrow/columns.py": {"indices": "of a dictionary of Arrow"},
    "_dataset/node_parts.py": {"numpy": "views for users"},
    "_dataset/node_type.py": {"numpy": "views for users"},
    "_compile/dataset/compiler.py": {"labels": "as they are given", "splits": "as they are given"},
    "_compile/dataset/typed_compiler.py": {"splits": "as they are given"},
    "_compile/dataset/typed_nodes.py": {
        "labels": "as they are given",
        "splits": "as they are given",
    },
    "_sources/layouts/mag240m.py": {"labels": "of a source"},
    "_sources/layouts/typed.py": {"labels": "of a source", "splits": "of a source"},
    "cli/compile/known.py": {"labels": "of a source", "splits": "of a source"},
    "datasets/typed_folders.py": {"labels": "of a source", "splits": "of a source"},
    "_mount/features.py": {
        "numpy": "views for users",
        "shared_view": "views for users",
        "private_view": "views for users",
        "dlpack_view": "views for users",
    },
    "_loading/batches/aggregation.py": {"indptr": "of a sample"},
    "_mount/row_index.py": {"numpy": "views for users: slices"},
    "_mount/graph.py": {
        "neighbor_lists": "views for users",
        "indptr": "views for users",
        "indices": "views for users",
        "list_section": "views for users",
        "private_list_section": "views for users",
        "_section": "views for users",
    },
    "graphzero/features.py": {"_private_view": "views for users"},
    "pyg/stores/edge_features.py": {"numpy": "of torch"},
    "pyg/stores/graph_store.py": {
        "_section": "views for users",
        "_private_section": "views for users",
    },
    "pyg/sampling/neighbor_sampler.py": {"numpy": "of torch"},
    "pyg/sampling/sampled_data.py": {"_private_section": "a view for PyG"},
    "pyg/embeddings/metapath2vec.py": {"numpy": "of torch", "tensor": "of torch"},
    "pyg/embeddings/node2vec.py": {"numpy": "of torch", "tensor": "of torch"},
    "pyg/embeddings/walk_embedding.py": {"numpy": "of torch", "tensor": "of torch"},
    "pyg/stores/node_group.py": {"tensor": "views for users"},
    "pyg/sampling/typed_sampling.py": {"numpy": "of torch"},
    "pyg/stores/node_index.py": {"numpy": "of torch", "indices": "of a slice"},
    "_sources/objects/memory_edges.py": {"numpy": "of torch"},
    "_sources/objects/memory_rows.py": {"numpy": "its shape, and where to read ahead"},
    "_sources/arrays/matrix_edges.py": {"indptr": "of SciPy"},
    "torch/__init__.py": {"numpy": "of torch", "_private_view": "views for users"},
}


def test_nobody_looks_into_views():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        words = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in VIEWS
        }
        if words:
            found[path.relative_to(PACKAGE).as_posix()] = words
    allowed = {name: set(reasons) for name, reasons in ALLOWED.items()}
    surplus = {name: words - allowed.get(name, set()) for name, words in found.items()}
    assert {name: words for name, words in surplus.items() if words} == {}, (
        "read mounted files by _mount.mapped_reads or gather; a view may be cut off, or change"
    )
    # What is gone from the code must go from the list as well, or it would let others in.
    missing = {name: words - found.get(name, set()) for name, words in allowed.items()}
    assert {name: words for name, words in missing.items() if words} == {}


@pytest.fixture
def folder(tmp_path):
    """A dataset with all that a dataset can have, large enough that a cut takes whole pages."""
    generator = np.random.default_rng(2)
    num_nodes, num_edges = 20_000, 60_000
    gm.compile_dataset(
        tmp_path / "ds",
        edges=gm.EdgeTable(
            source=generator.integers(0, num_nodes, (2, num_edges)),
            weights=generator.random(num_edges),
            timestamps=generator.integers(0, 100, num_edges),
        ),
        num_nodes=num_nodes,
        features={"x": np.ones((num_nodes, 4), np.float32)},
        edge_features={"e": np.ones((num_edges, 2), np.float32)},
        labels=np.arange(num_nodes) % 7,
        splits={"train": np.arange(num_nodes)},
        order="given",
    )
    return tmp_path / "ds"


def cut(path):
    """Leaves the header, which is not mapped pages of data."""
    os.truncate(path, 4096)


def graph_calls(graph, tmp_path):
    """Python code that goes through lists."""
    pairs = gz.Graph(graph.path)
    rows = np.zeros((graph.num_edges, 2), np.float32)
    return {
        "expected_access": lambda: gm.expected_access(graph, [1, 2], [2, -1]),
        "links": lambda: gm.LinkNeighborLoader(graph, [2], batch_size=100),
        "hot rows": lambda: list(_hot_rows.degree_counts(graph, "out")),
        "edge rows": lambda: gm.compile_features(rows, tmp_path / "made.gd", edges=graph),
        "graphzero": lambda: pairs.get_neighbours(0),
        "graphzero weights": lambda: pairs.get_weights(0),
    }


@pytest.mark.parametrize(
    "name", ["expected_access", "links", "hot rows", "edge rows", "graphzero", "graphzero weights"]
)
def test_lists_of_a_file_that_is_cut(name, folder, tmp_path):
    graph = gm.Dataset(folder).graph
    call = graph_calls(graph, tmp_path)[name]
    cut(graph.path)
    error = RuntimeError if name.startswith("graphzero") else gm.errors.FileChangedError
    with pytest.raises(error, match="while mounted"):
        call()


def test_labels_of_a_file_that_is_cut(folder):
    loader = gm.NeighborLoader(
        gm.Dataset(folder), [2], input_nodes="train", features=[], batch_size=100
    )
    batches = iter(loader)
    assert len(next(batches).labels) == 100
    cut(folder / "labels.gd")
    with pytest.raises(gm.errors.FileChangedError, match=r"labels\.gd"):
        list(batches)


def test_a_split_of_a_file_that_is_cut(folder):
    dataset = gm.Dataset(folder)
    assert len(dataset.splits["train"]) == 20_000
    store = gm.FeatureStore(folder / "splits" / "train.gd")
    cut(store.path)
    with pytest.raises(gm.errors.FileChangedError, match=r"train\.gd"):
        _mapped_reads.read_rows(store)
    with pytest.raises(gm.errors.GraphmountError, match=r"train\.gd"):
        gm.NeighborLoader(dataset, [2], input_nodes="train", batch_size=100)


def test_a_split_with_nodes_that_do_not_exist(folder):
    forgery = Forgery(folder / "splits" / "train.gd")
    forgery.set_item(forgery.find("matrix"), 3, 20_000)
    forgery.repair_chunks()
    forgery.save()
    with pytest.raises(gm.errors.GraphmountError, match=r"train\.gd"):
        list(gm.NeighborLoader(gm.Dataset(folder), [2], input_nodes="train", batch_size=100))


def test_rows_of_a_quantized_file_that_is_cut(tmp_path):
    """The one kind of mounted file that is read by its mapping when it is a source."""
    gm.compile_features(np.ones((50_000, 8)), tmp_path / "q.gd", quantize="column")
    store = gm.FeatureStore(tmp_path / "q.gd")
    rows = MemoryRows(store)
    expected = np.concatenate([batch.rows for batch in rows.batches(memory=100_000)])
    np.testing.assert_allclose(expected, 1, rtol=0.01)
    keyed = MemoryRows(store, columns=[1, 3])
    assert next(keyed.batches(memory=1000)).rows.shape[1] == 2
    batches = rows.batches(memory=100_000)
    next(batches)
    cut(store.path)
    with pytest.raises(gm.errors.FileChangedError):
        list(batches)


def test_inference_over_a_file_that_is_cut(folder, tmp_path):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(folder)
    seen = []

    def layer(_layer, block):
        seen.append(block.edge_weight)
        cut(dataset.graph.path)
        return block.x[: block.num_targets]

    with pytest.raises(gm.errors.FileChangedError):
        graphmount.torch.layerwise_inference(
            (dataset.graph, dataset.features["x"]),
            [torch.nn.Identity()],
            out=tmp_path / "y.gd",
            call=layer,
            weights=True,
            memory="1MiB",
        )
    assert seen[0].dtype == torch.float32


def damaged(folder, kind, item, value):
    forgery = Forgery(folder / "graph.gl")
    number = forgery.find(kind, 1)
    forgery.set_item(number, item, value)
    forgery.repair_chunks()
    forgery.save()
    return forgery.item_offset(number, item)


@pytest.mark.parametrize("value", [-1, 20_000, 2**31 - 1])
def test_damaged_neighbors_are_refused_with_their_place(value, folder):
    byte = damaged(folder, "indices", 41, value)
    graph = gm.Graph(folder / "graph.gl")
    message = rf"graph\.gl: section indices \(in\), byte {byte}: neighbor {value} "
    with pytest.raises(gm.errors.FormatError, match=message):
        gm.expected_access(graph, np.arange(20_000), [2])
    with pytest.raises(gm.errors.FormatError, match=message):
        gm.LinkNeighborLoader(graph, [2], batch_size=100)


@pytest.mark.parametrize("value", [-1, 60_001, 2**62, -(2**63), 59_999])
def test_damaged_offsets_are_refused_with_their_place(value, folder):
    """Not by NumPy, and not after allocating what they seem to need."""
    byte = damaged(folder, "indptr", 77, value)
    graph = gm.Graph(folder / "graph.gl")
    message = rf"section indptr \(in\), byte ({byte}|{byte + 8}): offset "
    with pytest.raises(gm.errors.FormatError, match=message):
        gm.expected_access(graph, [1, 2], [2])
    with pytest.raises(gm.errors.FormatError, match=message):
        gm.LinkNeighborLoader(graph, [2], batch_size=100)
    with pytest.raises(gm.errors.FormatError, match=message):
        _hot_rows.degree_counts(graph, "in")
    with pytest.raises(gm.errors.FormatError, match=r"goes from|offset"):
        list(gm.NeighborLoader(graph, [-1], batch_size=1000))


def test_copies_are_what_views_show(graph_path):
    graph = gm.Graph(graph_path)
    for direction in graph.directions:
        lists = graph.neighbor_lists(direction)
        for name, view in vars(lists).items():
            section = name.replace("_", " ")
            has_it = _mapped_reads.has_list_section(graph, section, direction)
            assert has_it == (view is not None)
            if view is None:
                with pytest.raises(gm.errors.MissingDataError, match=f"no {section}"):
                    _mapped_reads.read_list_section(graph, section, direction, 0, 1)
                continue
            copy = _mapped_reads.read_list_section(graph, section, direction, 0, len(view))
            np.testing.assert_array_equal(copy, view)
            assert copy.flags.writeable
        positions = np.array([5, 299, 0, 5])
        for name in ("weights", "timestamps"):
            values = _mapped_reads.gather_list_values(graph, name, direction, positions)
            np.testing.assert_array_equal(values, getattr(lists, name)[positions])
        with pytest.raises(gm.errors.IdError, match="edge 300"):
            _mapped_reads.gather_list_values(graph, "weights", direction, np.array([300]))
        offsets = _mapped_reads.ListOffsets(graph, direction)
        assert [offsets[node] for node in range(len(offsets))] == lists.indptr.tolist()
        degrees = [part for _, part in _mapped_reads.read_degrees(graph, direction, at_once=7)]
        np.testing.assert_array_equal(np.concatenate(degrees), np.diff(lists.indptr))


def test_copies_of_rows(features_path):
    store = gm.FeatureStore(features_path)
    np.testing.assert_array_equal(_mapped_reads.read_rows(store), store.numpy())
    np.testing.assert_array_equal(_mapped_reads.read_rows(store, 7, 3), store.numpy()[7:10])
    assert _mapped_reads.read_rows(store, 100).shape == (0, 24)
    with pytest.raises(gm.errors.IdError, match="has 100 rows"):
        _mapped_reads.read_rows(store, 99, 2)
