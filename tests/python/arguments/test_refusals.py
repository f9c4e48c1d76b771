"""A call that is refused changes nothing: no state, no running loop, no memory of the caller.

Every public class is here: as a result, which nothing changes, or as an object with state, of which
each method is called with hostile values. Whatever such a call raises, the object is as before.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import importlib
import inspect
import itertools
import os
import sys
import warnings

import numpy as np
import pytest
from hostile_values import VALUES, parameters_of

import graphmount as gm
import graphmount.doctor
import graphmount.graphzero
from graphmount._mount.node_ids import mark_ids

NUM_NODES = 30


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("refusals") / "dataset"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=generator.integers(0, NUM_NODES, (2, 90)),
        num_nodes=NUM_NODES,
        features={"x": generator.random((NUM_NODES, 2), dtype=np.float32)},
        labels=np.arange(NUM_NODES),
        splits={"train": np.arange(10)},
    )
    return gm.Dataset(path)


def state_of(value, depth=4):
    """All that an object is made of, as data that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if type(value).__module__ == "torch" and hasattr(value, "detach"):
        return value.tolist()
    if isinstance(value, dict):
        return {name: state_of(each, depth) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [state_of(each, depth) for each in value]
    if depth and type(value).__module__.startswith("graphmount.") and hasattr(value, "__dict__"):
        return id(value), state_of(vars(value), depth - 1)
    return value if isinstance(value, int | float | str | bytes | None) else id(value)


def methods_of(value):
    """What can be called on an object, by name, with arguments; properties can be set."""
    for name in dir(type(value)):
        if name.startswith("_") or name in _OF_OTHERS:
            continue
        member = inspect.getattr_static(type(value), name)
        if isinstance(member, property):
            if member.fset is not None:
                yield name, lambda value_, name=name: setattr(value, name, value_), ["value_"]
            continue
        method = getattr(value, name)
        if callable(method) and not isinstance(member, staticmethod | classmethod):
            yield name, method, parameters_of(method)


# Methods of PyG's and torch's classes that are not ours; and one that would take years.
_OF_OTHERS = {"sample_from_nodes", "sample_from_edges", "register_datapipe_as_function"}
_OF_OTHERS |= {"register_function", "set_reduce_ex_hook", "set_getstate_hook", "tensor"}
_OF_OTHERS |= {"replay"}  # it ends a loop if it is not refused; test_replay.py has that
_TOO_LONG = {("visit_counts", "num_walks", "2**63 - 1")}


def refused(value):
    """Calls all methods with hostile values; after each refusal, the object is as it was."""
    count = 0
    for method, call, names in methods_of(value):
        parameters = inspect.signature(call).parameters
        for name, label in itertools.product(names, VALUES):
            if (method, name, label) in _TOO_LONG:
                continue
            given = {
                other: None
                for other in names
                if other != name and parameters[other].default is inspect.Parameter.empty
            }
            before = state_of(value)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**given, **{name: VALUES[label]()})
            except Exception:  # noqa: BLE001  (which one it is, others look at)
                count += 1
                what = f"{type(value).__name__}.{method}({name}={label})"
                assert state_of(value) == before, what
    return count


def loaders_of(dataset):
    """One loader of each kind, in the middle of a loop, and the numbers of the batches to come."""
    kinds = [gm.NeighborLoader, gm.LinkNeighborLoader]
    for module in ("torch", "pyg"):
        try:
            imported = importlib.import_module(f"graphmount.{module}")
        except ImportError:
            continue
        kinds += [imported.NeighborLoader, imported.LinkNeighborLoader]
    for kind in kinds:
        yield kind(dataset, [2], batch_size=2, memory="1MiB", seed=3)


def first_rows(batch):
    return np.asarray(batch.input_id if hasattr(batch, "input_id") else batch.input_ids).tolist()


def test_loaders_go_on_with_their_loop(dataset):
    for loader in loaders_of(dataset):
        expected = [first_rows(batch) for batch in loader]
        loader.load_state_dict({**loader.state_dict(), "epoch": 0})
        batches = iter(loader)
        found = [first_rows(next(batches))]
        assert refused(loader) > 10
        found += [first_rows(batch) for batch in batches]
        assert found == expected


def test_a_loop_that_cannot_begin_leaves_the_one_that_runs(tmp_path):
    gm.compile_graph(([0, 1, 2], [1, 2, 0]), tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    loader = gm.NeighborLoader(graph, [1], seed=1)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    graph.close()
    with pytest.raises(gm.errors.ClosedError):
        iter(loader)
    assert loader.state_dict() == state
    assert [batch.number for batch in batches] == [1, 2]


def objects_with_state(dataset):
    """Whatever else of ours remembers something."""
    yield dataset.graph
    yield dataset.features["x"]
    yield dataset
    typed = f"{dataset.path}-typed"
    edges = {("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}
    types = {name: gm.Nodes(labels=[0, 1, 2]) for name in ("book", "reader")}
    gm.compile_dataset(typed, nodes=types, edges=edges, overwrite=True, progress=False)
    yield (many := gm.Dataset(typed))
    yield from (many.nodes["book"], many.edges["reader", "lends", "book"])
    yield gm.graphzero.Graph(dataset.graph.path)
    yield gm.graphzero.FeatureStore(dataset.features["x"].path)
    try:
        from graphmount import torch
    except ImportError:
        return
    loader = torch.NeighborLoader(dataset, [2], batch_size=2, seed=3)
    batches = torch.BatchDataset(loader)
    batches.state_dict()  # which remembers the checksum of the inputs
    yield batches
    yield torch.RankGroup()
    yield torch.SkipGramDataset(dataset.graph, 2, window=1, batch_size=4)
    try:
        from graphmount import pyg
    except ImportError:
        return
    yield pyg.NeighborSampler(dataset, [2], ids="external")
    yield from dataset.to_pyg()
    yield pyg.EdgeFeatures(dataset)


def test_walks_that_are_refused_leave_a_model_as_it_is(dataset):
    model = pytest.importorskip("graphmount.pyg", exc_type=ImportError).Node2Vec(dataset, 4, 3, 2)
    before = model().detach().clone()
    for wrong in ([10**9], ["x"], [0.5], [[0, 1]]):
        with pytest.raises((gm.errors.IdError, TypeError, ValueError)):
            model.sample(wrong)
        with pytest.raises((gm.errors.IdError, TypeError, ValueError)):
            model(wrong, ids="internal")
    assert (model() == before).all()


def test_other_objects_stay_as_they_are(dataset):
    for value in objects_with_state(dataset):
        refused(value)


def test_advice_that_fails_is_not_taken(tmp_path):
    gm.compile_features(np.ones((100_000, 4)), tmp_path / "x.gd")
    store = gm.FeatureStore(tmp_path / "x.gd", advice="normal")
    with pytest.raises(ValueError, match="advice='nonsense'"):
        store.advise("nonsense")
    os.truncate(tmp_path / "x.gd", 5000)
    with pytest.raises(gm.errors.FileChangedError):
        store.advise("random")
    assert store.advice == "normal"
    assert store.__reduce__()[1][2] == {"advice": "normal"}


def test_progress_that_fails_is_no_advice(tmp_path):
    gm.compile_features(np.ones((1000, 4)), tmp_path / "x.gd")
    store = gm.FeatureStore(tmp_path / "x.gd", advice="normal")
    for advice in ("random", "populate"):
        with pytest.raises(TypeError):
            store.advise(advice, progress=5)
        assert store.advice == "normal"
        assert store.__reduce__()[1][2] == {"advice": "normal"}


@pytest.mark.parametrize("reader", ["auto", "mapped", "pread"])
def test_gathering_writes_nothing_if_it_is_refused(dataset, reader):
    store = dataset.features["x"]
    nodes = dataset.as_internal([0, 1, 2])
    out = np.full((3, 2), 7, np.float32)
    for ids, options in [
        ([0, 1, 2], {}),
        (mark_ids(np.array([0, 1, NUM_NODES]), store.order), {}),
        (mark_ids(np.array([0, 1, -1]), store.order), {}),
        (nodes[:2], {}),
        (nodes, {"dtype": "float64"}),
        (nodes, {"dtype": "nonsense"}),
        ([0, 1, 2.5], {}),
        (np.ma.masked_array([0, 1, 2], [False, False, True]), {}),
    ]:
        with pytest.raises((ValueError, TypeError, gm.errors.IdError)):
            store.gather(ids, out, **{"reader": reader} | options)
        assert (out == 7).all()
    with pytest.raises(ValueError, match="reader='nonsense'"):
        store.gather(nodes, out, reader="nonsense")
    assert (out == 7).all()


def seed_generators():
    np.random.seed(1)  # noqa: NPY002  (the one that graphmount draws from, without torch)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(1)


def test_refused_options_draw_no_seed(dataset):
    """Who seeds NumPy gets the same numbers whether a call before was refused or not."""
    from graphmount._support.seeds import as_key

    for options in ({"memory": "much"}, {"rank": 5, "world_size": 2}, {"reader": "nonsense"}):
        draws = []
        for is_refused in (False, True):
            seed_generators()
            if is_refused:
                with pytest.raises(ValueError, match=next(iter(options))):
                    gm.NeighborLoader(dataset, [2], **options)
            draws.append(as_key(None))
        assert draws[0] == draws[1]


def test_a_loop_that_cannot_begin_takes_no_epoch(tmp_path):
    torch = pytest.importorskip("graphmount.torch", exc_type=ImportError)
    gm.compile_graph(([0, 1, 2], [1, 2, 0]), tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    batches = torch.BatchDataset(torch.NeighborLoader(graph, [1], seed=1))
    assert [batch.epoch for batch in batches] == [0, 0, 0]
    before = state_of(batches._epoch)
    graph.close()
    with pytest.raises(gm.errors.ClosedError):
        iter(batches)
    assert state_of(batches._epoch)[1]["_next"] == before[1]["_next"]


def test_threads_stay_as_many():
    before = gm.num_threads()
    for label in VALUES:
        try:
            gm.set_num_threads(VALUES[label]())
        except (TypeError, ValueError):
            assert gm.num_threads() == before, label
        gm.set_num_threads(before)


# What has state, each of which is above; all else is a result, and frozen.
WITH_STATE = {
    "Graph",
    "FeatureStore",
    "Dataset",
    "TypedDataset",
    "NodeType",
    "Relation",
    "NeighborLoader",
    "LinkNeighborLoader",
    "BatchDataset",
    "RankGroup",
    "SkipGramDataset",
    "NeighborSampler",
    "GraphStore",
    "EdgeFeatures",
}


# Modules of torch's and of Lightning's, which set attributes of them.
MODULES_OF_OTHERS = {"Node2Vec", "MetaPath2Vec", "LightningNodeData", "LightningLinkData"}


def test_every_public_class_is_frozen_or_tried_here(dataset):
    modules = [gm, gm.graphzero, gm.doctor]
    for name in ("torch", "pyg"):
        with contextlib.suppress(ImportError):
            modules.append(importlib.import_module(f"graphmount.{name}"))
    tried = {type(value) for value in objects_with_state(dataset)}
    tried |= {type(loader) for loader in loaders_of(dataset)}
    for module in modules:
        for name in module.__all__:
            each = getattr(module, name)
            if not isinstance(each, type) or issubclass(each, enum.Enum | Exception):
                continue
            if each.__name__ in MODULES_OF_OTHERS:
                continue
            if each in tried:
                assert each.__name__ in WITH_STATE
                continue
            if issubclass(each, np.ndarray):  # values are the caller's, but not whose they are
                with pytest.raises(AttributeError):
                    each(3).order = 1
                continue
            assert dataclasses.is_dataclass(each), f"{each} is not tried here"
            assert each.__dataclass_params__.frozen, f"{each} is not frozen"
