"""How objects show themselves: every public class in one line, and in notebooks as escaped HTML."""

from __future__ import annotations

import enum
import importlib.util
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from made_up_machines import dataset as dataset_facts
from made_up_machines import disk, figures, machine

import graphmount as gm
import graphmount.doctor
import graphmount.graphzero
from graphmount._support.display import LONGEST_LINE, Displayed, NamedParts, brief, html_table

HAS_LIGHTNING = importlib.util.find_spec("pytorch_lightning") is not None

NUM_NODES = 3000
NASTY = "<script>alert('&')</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Large enough that arrays would fill the screen, and with names that look like HTML."""
    path = tmp_path_factory.mktemp("shown") / "<b>&amp;data"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=gm.EdgeTable(
            source=generator.integers(0, NUM_NODES, (2, 20_000)), weights=generator.random(20_000)
        ),
        num_nodes=NUM_NODES,
        features={"x": np.ones((NUM_NODES, 300), np.float32), "z": np.ones((NUM_NODES, 1))},
        edge_features={"w": np.ones((20_000, 2))},
        labels=[f"{NASTY}{i % 50}" for i in range(NUM_NODES)],
        splits={"train": np.arange(1000)},
    )
    return path


def objects(folder):
    """One object of each public class."""
    ds = gm.Dataset(folder)
    graph, nodes = ds.graph, ds.splits["train"]
    loader = gm.NeighborLoader(ds, [10, 10], batch_size=500)
    links = gm.LinkNeighborLoader(ds, [10], batch_size=500, neg_sampling="binary")
    list(loader)
    yield from (ds, graph, loader, links, nodes, ds.labels)
    yield from (ds.features["x"], ds.features, ds.splits)
    yield from (next(iter(loader)), next(iter(links)), loader.replay(2))
    stats = loader.stats()
    yield from (stats, stats.tables["x"], stats.memory, stats.memory.files[0])
    yield graph.sample_neighbors(nodes, [10])
    yield graph.neighbor_lists()
    yield graph.degree_summary()
    yield graph.sections[0]
    yield graph.skip_gram_pairs(nodes, 10, window=5, negatives=5)
    yield graph.visit_counts(nodes, 10, length=4)
    yield gm.LinkNegatives("triplet", 5, dst_weight=np.ones(NUM_NODES))
    yield gm.Table(source=np.ones((NUM_NODES, 300)))
    yield gm.EdgeTable(source=np.ones((2, 20_000), int), weights=np.ones(20_000))
    path = folder.parent
    yield gm.compile_graph(np.ones((2, 2000), int), path / "g.gl")
    yield gm.compile_features(np.ones((2000, 2)), path / "x.gd")
    x = np.ones((2, 1))
    yield gm.compile_dataset(path / "d", edges=([0], [1]), features={"x": x}, overwrite=True)
    yield from _of_many_types(path / "typed")
    with open(path / "g.gl", "r+b") as file:
        file.seek(70_000)
        file.write(b"\xff" * 50)
    found = gm.verify(path / "g.gl")
    yield from (found, found.problems[0])
    yield from _of_others(ds, path)


def _of_many_types(path):
    nodes = gm.Nodes(num_nodes=3)
    yield nodes
    yield gm.compile_dataset(
        path,
        nodes={"book": nodes, "reader": gm.Nodes(num_nodes=2)},
        edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])},
        overwrite=True,
    )
    ds = gm.Dataset(path)
    yield from (ds, ds.nodes["book"], ds.edges["reader", "lends", "book"])
    yield ds.sample_neighbors(("book", [2]), [2], ids="external")
    yield next(iter(gm.NeighborLoader(ds, [2], input_nodes="book")))
    yield next(iter(gm.LinkNeighborLoader(ds, [2], edge_label_index=("reader", "lends", "book"))))


def _of_others(ds, path):
    gm.compile_graph(np.ones((2, 2000), int), path / "zero.gl")
    yield gm.graphzero.Graph(str(path / "zero.gl"))
    yield gm.graphzero.FeatureStore(str(path / "x.gd"))
    yield from _of_the_doctor()
    try:
        from graphmount import torch
    except ImportError:
        return
    loader = torch.NeighborLoader(ds, [10, 10], batch_size=500)
    links = torch.LinkNeighborLoader(ds, [10], batch_size=500)
    walks = torch.SkipGramDataset(ds.graph, 10, window=5, negatives=5)
    yield torch.RankGroup()
    yield from (loader, links, next(iter(loader)), next(iter(links)), torch.BatchDataset(loader))
    yield next(iter(loader)).adjs
    typed, lends = gm.Dataset(path / "typed"), ("reader", "lends", "book")
    yield next(iter(torch.NeighborLoader(typed, [2], input_nodes="book")))
    yield next(iter(torch.LinkNeighborLoader(typed, [2], edge_label_index=lends)))
    averaged = torch.NeighborLoader(ds, [10], features=["x"], aggregate_last="mean")
    yield next(iter(averaged)).adjs[0]
    yield from (walks, next(iter(walks)))
    blocks = []
    torch.layerwise_inference(
        ds, [None], out=path / "y.gd", call=lambda _, block: blocks.append(block) or block.x
    )
    layers = {"layers": [None], "features": {}}
    torch.layerwise_inference(
        typed,
        **layers,
        out=path / "y",
        call=lambda _, block: blocks.append(block) or block.nodes[block.target_type],
    )
    yield from (blocks[0], blocks[-1])
    try:
        from graphmount import pyg
    except ImportError:
        return
    yield from ds.to_pyg()
    yield pyg.NeighborLoader(ds, [2])
    yield pyg.LinkNeighborLoader(ds, [2])
    yield pyg.NeighborSampler(ds, [2], ids="external")
    yield pyg.EdgeFeatures(ds)
    yield pyg.Node2Vec(ds, 4, 3, 2)
    yield pyg.MetaPath2Vec(typed, 4, [lends], 1, 2)
    if HAS_LIGHTNING:
        yield pyg.LightningNodeData(ds, input_train_nodes="train", num_neighbors=[2])
        yield pyg.LightningLinkData(ds, num_neighbors=[2])


def _of_the_doctor():
    facts, speeds = dataset_facts(), figures()
    finding = gm.doctor.Finding(level="act", subject="disk", text="slow " * 100)
    estimate = gm.doctor.Estimate(
        memory_bytes=8 << 30,
        served_share=0.8,
        rows_per_second=180e3,
        disk_seconds=0.1,
        cpu_seconds=0.05,
    )
    report = gm.doctor.MachineReport(
        machine=machine(),
        disk=disk(),
        figures=speeds,
        dataset=facts,
        estimate=estimate,
        findings=(finding,) * 9,
        seconds=1.0,
    )
    yield from (report, report.machine, report.disk, finding, estimate)
    yield from (facts, facts.tables[0], facts.batch)
    yield from (speeds, speeds.reads[0], speeds.io_uring)


def test_every_public_class_is_one_line(folder):
    shown = {}
    for value in objects(folder):
        shown[type(value).__name__] = value
        if isinstance(value, np.ndarray):
            continue  # they print as arrays do
        assert "\n" not in repr(value), type(value)
        assert len(repr(value)) <= LONGEST_LINE + 60, repr(value)  # what is not ours is not cut
    modules = [gm, gm.graphzero, gm.doctor]
    for name in ("torch", "pyg"):
        try:
            modules.append(importlib.import_module(f"graphmount.{name}"))
        except ImportError:
            continue
    for module in modules:
        for name in module.__all__:
            if name.startswith("Lightning") and not HAS_LIGHTNING:
                continue
            each = getattr(module, name)
            if isinstance(each, type) and not issubclass(each, enum.Enum | Exception):
                assert name in shown, f"{name} is not looked at here"


class _Reader(HTMLParser):
    """Takes HTML apart: which tags there are, and all text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        self.close()
        assert self.open == [], "not all tags are closed"

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


TABLE_TAGS = {"table", "caption", "b", "thead", "tr", "th", "td"}


def test_tables_of_notebooks_are_escaped(folder):
    count = 0
    for value in objects(folder):
        if not hasattr(type(value), "_repr_html_") or not isinstance(value, Displayed):
            continue
        count += 1
        read = _Reader(value._repr_html_())
        assert read.tags <= TABLE_TAGS, type(value)
        if isinstance(value, gm.Dataset | gm.Graph | gm.FeatureStore):
            assert str(folder) in read.text
    assert count > 30


def test_what_tables_say(folder):
    ds = gm.Dataset(folder)
    read = _Reader(ds._repr_html_()).text
    for words in ("3,000", "20,000", "features 'x'", "3,000 x 300 float32", "split 'train'"):
        assert words in read
    graph = _Reader(ds.graph._repr_html_()).text
    assert "weights" in graph
    loader = gm.NeighborLoader(ds, [2], batch_size=1000)
    list(loader)
    stats = _Reader(loader.stats()._repr_html_()).text
    for words in ("epoch 0", "Tables in this epoch", "Tables in all epochs", "Memory now"):
        assert words in stats
    assert "num_neighbors" in _Reader(loader._repr_html_()).text
    batch = next(iter(loader))
    assert "float32 (" in _Reader(batch._repr_html_()).text


def test_closed_handles_show_themselves(folder):
    graph, store = gm.Graph(folder / "graph.gl"), gm.Dataset(folder).features["x"]
    for handle in (graph, store):
        handle.close()
        assert "closed" in repr(handle)
        assert "closed" in handle._repr_html_()


def test_a_dataset_with_closed_tables_shows_itself(folder):
    ds = gm.Dataset(folder)
    for store in ds._files.tables.values():
        store.close()
    ds.graph.close()
    assert _Reader(ds._repr_html_()).text.count("closed") == 5
    assert "\n" not in repr(ds)


def test_whatever_is_inside_is_escaped():
    html = html_table(NASTY, (NASTY,), [(NASTY, NASTY)])
    assert "<script>" not in html
    assert _Reader(html).text.count(NASTY) == 4


def test_brief():
    assert brief(np.zeros((3, 2))) == "float64 (3, 2)"
    assert brief({"x": np.zeros(3)}) == "{'x': float64 (3,)}"
    assert brief(np.float32(1.5)) == "np.float32(1.5)"
    assert len(brief({str(i): np.zeros(1) for i in range(10_000)})) < 300
    assert brief(list(range(10_000))) == "[0, 1, 2, 3, 4, 5, ...]"


def test_names_that_are_not_there():
    parts = NamedParts("split", {"train": 1, "valid": 2})
    with pytest.raises(KeyError) as caught:
        parts["val"]
    assert str(caught.value) == "there is no split 'val'; there are 'train', 'valid'"
    with pytest.raises(KeyError, match="there are none"):
        NamedParts("split", {})["val"]
    for wrong in (["train"], None, 3):
        with pytest.raises(KeyError, match=re.escape(f"no split {wrong!r}")):
            parts[wrong]
    assert parts.get("val") is None
    assert "val" not in parts
    assert dict(parts) == {"train": 1, "valid": 2}
    with pytest.raises(TypeError):
        parts["val"] = 3
