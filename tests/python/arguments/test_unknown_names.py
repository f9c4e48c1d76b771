"""Arguments by names that a call does not have: it says which name was meant, or what to write."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount._support.keywords import advises

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_PYG = HAS_TORCH and importlib.util.find_spec("torch_geometric") is not None


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gm.compile_dataset("web", edges=([3, 3, 1], [0, 1, 2]), order="given")
    return gm.Dataset("web")


def copied(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301  (our own)


def loaders(name):
    """The loaders of this name: those of arrays, and of what is installed."""
    found = [getattr(gm, name)]
    if HAS_TORCH:
        found.append(getattr(importlib.import_module("graphmount.torch"), name))
    if HAS_PYG:
        found.append(getattr(importlib.import_module("graphmount.pyg"), name))
    return found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gm.compile_dataset("d", edge=([0], [1])),
            "compile_dataset has no option 'edge'; did you mean 'edges'?",
        ),
        (
            lambda: gm.compile_dataset("d", edges=([0], [1]), labelz=[0, 1]),
            "compile_dataset has no option 'labelz'; did you mean 'labels'?",
        ),
        (
            lambda: gm.compile_graph(([0], [1]), "g.gl", num_node=3),
            "compile_graph has no option 'num_node'; did you mean 'num_nodes'?",
        ),
        (
            lambda: gm.compile_features([[1]], "x.gd", column=[0]),
            "compile_features has no option 'column'; did you mean 'columns'?",
        ),
        (
            lambda: gm.Table(source="x.csv", columnz=["a"]),
            "Table has no option 'columnz'; did you mean 'columns'?",
        ),
        (
            lambda: gm.EdgeTable(source="x.csv", delimiterr=","),
            "EdgeTable has no option 'delimiterr'; did you mean 'delimiter'?",
        ),
        (
            lambda: gm.Dataset("web", advise="random"),
            "Dataset has no option 'advise'; did you mean 'advice'?",
        ),
        (
            lambda: gm.Dataset("web").graph.sample_neighbors([0], [1], replacement=True),
            "sample_neighbors has no option 'replacement'; did you mean 'replace'?",
        ),
        (lambda: gm.Dataset("web", qqq=1), "Dataset has no option 'qqq'; the others are advice, p"),
    ],
)
@pytest.mark.usefixtures("dataset")
def test_the_nearest_name(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)
    assert not any(Path(name).exists() for name in ("d", "g.gl", "x.gd"))


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("NeighborLoader", "batchsize", "batch_size"),
        ("NeighborLoader", "num_neighbours", "num_neighbors"),
        ("LinkNeighborLoader", "droplast", "drop_last"),
        ("LinkNeighborLoader", "neg_sampling_rate", "neg_sampling_ratio"),
    ],
)
def test_the_nearest_name_of_loaders(dataset, name, wrong, right):
    for loader in loaders(name):
        with pytest.raises(TypeError) as caught:
            loader(dataset, **{wrong: 1})
        assert str(caught.value) == f"{name} has no option {wrong!r}; did you mean {right!r}?"


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
def test_a_loader_of_tensors_knows_its_own_options(dataset):
    for loader in loaders("NeighborLoader")[1:]:
        with pytest.raises(TypeError, match="did you mean 'pin_memory'"):
            loader(dataset, [1], pin_memoryy=True)
        assert len(loader(dataset, [1], pin_memory=False, seed=1)) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gm.Table("x.csv"), "Table takes all arguments by name; write source='x.csv'"),
        (
            lambda: gm.EdgeTable("x.csv", header=True),
            "EdgeTable takes all arguments by name; write source='x.csv'",
        ),
        (
            lambda: gm.Table(np.ones((2, 2))),
            "Table takes all arguments by name; write source=…",
        ),
        (
            lambda: gm.Table("x.csv", "name"),
            "Table takes all arguments by name; write source=…",
        ),
        (
            lambda: gm.compile_graph("e.csv", "g.gl", False),
            (
                "compile_graph takes 2 arguments without a name (source, out), and there are 3; "
                "give the others by name, such as directed=…"
            ),
        ),
        (
            lambda: gm.compile_dataset("d", "e.csv"),
            (
                "compile_dataset takes 1 argument without a name (out), and there are 2; give the "
                "others by name, such as edges=…"
            ),
        ),
        (
            lambda: gm.Dataset("web").graph.sample_neighbors([0], [1], True),
            "sample_neighbors takes 2 arguments without a name (seeds, fanouts), and there are 3",
        ),
        (
            lambda: gm.NeighborLoader(gm.Dataset("web"), [1], "train"),
            (
                "NeighborLoader takes 2 arguments without a name (data, num_neighbors), and there "
                "are 3; give the others by name, such as input_nodes=…"
            ),
        ),
    ],
)
@pytest.mark.usefixtures("dataset")
def test_arguments_without_names(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)


def test_functions_stay_as_they_are(dataset):
    """For `inspect`, for pickle, for those who read the documentation."""
    parameters = inspect.signature(gm.compile_dataset).parameters
    assert list(parameters)[:3] == ["out", "edges", "features"]
    assert parameters["edges"].kind is inspect.Parameter.KEYWORD_ONLY
    assert list(inspect.signature(gm.Table).parameters)[:2] == ["source", "dtype"]
    assert list(inspect.signature(gm.NeighborLoader).parameters)[:2] == ["data", "num_neighbors"]
    assert gm.compile_graph.__module__ == "graphmount._compile.graph_compiler"
    assert (gm.compile_graph.__doc__ or "").startswith("Writes edges")
    assert copied(gm.compile_graph) is gm.compile_graph
    assert copied(gm.Table(source=[1], key=[0])).key == [0]
    loader = copied(gm.NeighborLoader(dataset, [1], seed=1))
    assert len(loader) == 4


def test_an_error_inside_is_left_alone():
    @advises({"word": "name"})
    def call(*, name=None):
        raise TypeError(f"of its own: {name}")

    with pytest.raises(TypeError, match="of its own: 3"):
        call(name=3)


@pytest.mark.usefixtures("dataset")
def test_a_warning_names_the_line_that_called():
    Path("needs.csv").write_text("package,needs\nbash,libc\nlibc,bash\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("always", UserWarning)
        gm.compile_graph("needs.csv", "needs.gl", ids="map")
        gm.compile_dataset("needs", edges="needs.csv", ids="map")
        if HAS_PYG:
            import torch
            from torch_geometric.data import Data

            gm.compile_dataset("data", edges=Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
    assert [warning.filename for warning in caught] == [__file__] * (3 if HAS_PYG else 2)
