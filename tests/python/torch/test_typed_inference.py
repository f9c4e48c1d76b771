"""Inference layer by layer over many types of nodes, against the whole graph at once."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed")

from typed_loader_data import AT, CITES, COUNTS, REV_AT, REV_WRITES, WRITES, make_typed  # noqa: E402
from typed_outputs import WholeModel, whole_outputs  # noqa: E402

import graphmount as gm  # noqa: E402
from graphmount.errors import BudgetError, MissingDataError, SourceError  # noqa: E402
from graphmount.torch import layerwise_inference  # noqa: E402


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


def outputs_in(done):
    return {name: gm.FeatureStore(each.path).tensor() for name, each in done.items()}


def one_layer(model):
    """A layer of the model, as `call` applies it: by the edges of a block."""

    def call(layer, block, edge_index=None, x=None):
        own, along = model.layers[layer]
        x = block.x if x is None else x
        edges = block.edge_index if edge_index is None else edge_index
        if layer == 0:
            x = model.rows(x, {name: len(ids) for name, ids in block.nodes.items()})
        target = block.target_type
        out = x[target][: block.num_targets] @ own[target]
        for relation in model.relations:
            if relation[2] == target:
                source, destination = edges[relation]
                sums = torch.zeros(len(out), x[relation[0]].shape[1])
                sums.index_add_(0, destination, x[relation[0]][source])
                degrees = torch.bincount(destination, minlength=len(sums)).clamp(min=1)
                out = out + sums / degrees[:, None] @ along[relation]
        return torch.tanh(out)

    return call


@pytest.mark.parametrize("memory", ["800KiB", "64MiB"])
def test_outputs_are_those_of_the_whole_graph(ds, tmp_path, memory):
    """Institutions have no rows at first, and nothing leads to topics."""
    model = WholeModel(ds)
    wanted = whole_outputs(model, ds)
    done = layerwise_inference(
        ds, [0, 1], out=tmp_path / "y", call=one_layer(model), memory=memory, progress=False
    )
    assert list(done) == list(COUNTS)
    for name, found in outputs_in(done).items():
        assert (wanted[name] - found).abs().max() < 1e-5
        assert gm.FeatureStore(done[name].path).order == ds.nodes[name].order
        assert gm.verify(done[name].path).ok
    assert sorted(os.listdir(tmp_path / "y")) == sorted(f"{name}.gd" for name in COUNTS)


def turned_relation(block):
    """Edges of citations the other way, as far as the block has their ends."""
    edges = dict(block.edge_index)
    if block.target_type == "paper":
        edges[CITES] = (edges[CITES].flip(0)) % max(block.num_targets, 1)
    return edges, None


def rows_of_others(block):
    """Rows of authors in another order than the numbers of the block."""
    x = dict(block.x)
    x["author"] = x["author"].flip(0)
    return None, x


@pytest.mark.parametrize("plant", [turned_relation, rows_of_others])
def test_the_check_of_outputs_notices_what_is_planted(ds, tmp_path, plant):
    model = WholeModel(ds)
    right = one_layer(model)
    wanted = whole_outputs(model, ds)

    def wrong(layer, block):
        edges, x = plant(block)
        return right(layer, block, edges, x)

    done = layerwise_inference(ds, [0, 1], out=tmp_path / "y", call=wrong, memory="1MiB")
    assert (wanted["paper"] - outputs_in(done)["paper"]).abs().max() > 1e-3


def make_rows(path, relations, counts, **options):
    """A dataset whose types all have rows, of widths of their own."""
    generator = np.random.default_rng(len(counts))
    gm.compile_dataset(
        path,
        nodes={
            name: gm.Nodes(
                num_nodes=count,
                features={"x": generator.standard_normal((count, 3 + i)).astype(np.float32)},
            )
            for i, (name, count) in enumerate(counts.items())
        },
        edges=relations,
        **options,
    )
    return gm.Dataset(path)


def whole_of(dataset):
    """Rows and edges of the whole dataset, by internal ids."""
    x = {
        name: nodes.features["x"].tensor()
        for name, nodes in dataset.nodes.items()
        if "x" in nodes.features
    }
    edges = {}
    for relation, part in dataset.edges.items():
        lists = part.graph.neighbor_lists("in")
        owners = np.repeat(np.arange(part.graph.num_destinations), np.diff(lists.indptr))
        edges[relation] = torch.from_numpy(np.stack([lists.indices, owners]).astype(np.int64))
    return x, edges


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Papers, authors and places, with all relations both ways."""
    generator = np.random.default_rng(5)
    counts = {"paper": 120, "author": 50, "place": 9}
    relations = {
        ("author", "writes", "paper"): (
            generator.integers(0, 50, 400),
            generator.integers(0, 120, 400),
        ),
        ("paper", "cites", "paper"): (
            generator.integers(0, 120, 500),
            generator.integers(0, 120, 500),
        ),
        ("author", "at", "place"): (generator.integers(0, 50, 60), generator.integers(0, 9, 60)),
    }
    return make_rows(tmp_path_factory.mktemp("pages") / "d", relations, counts, reverse=True)


@pytest.fixture(scope="module")
def nn():
    return pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")


def sage_of(nn, dataset, *, layers=2):
    """GraphSAGE by `to_hetero`, whose layers have met the widths of rows."""

    class Sage(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = torch.nn.ModuleList(nn.SAGEConv((-1, -1), 8) for _ in range(layers))

        def forward(self, x, edge_index):
            for conv in self.convs[:-1]:
                x = conv(x, edge_index).relu()
            return self.convs[-1](x, edge_index)

    torch.manual_seed(0)
    model = nn.to_hetero(Sage(), (list(dataset.node_types), list(dataset.edge_types))).eval()
    with torch.no_grad():
        return model, model(*whole_of(dataset))


def by_parts(layer, block):
    """A layer of such a model, relation by relation, over matrices."""
    convs, function = layer
    out = sum(
        convs["__".join(relation)](block.pairs[relation], adj)
        for relation, adj in block.adj.items()
    )
    return function(out)


def test_a_model_of_to_hetero_by_its_parts(nn, pages, tmp_path):
    model, wanted = sage_of(nn, pages)
    layers = [(model.convs[0], torch.relu), (model.convs[1], lambda x: x)]
    done = layerwise_inference(pages, layers, out=tmp_path / "y", call=by_parts, memory="80KiB")
    for name, found in outputs_in(done).items():
        assert (wanted[name] - found).abs().max() < 1e-5
    # Edges of a relation in the place of those of its reverse: the check above must notice.
    convs = dict(model.convs[0])
    one, other = "paper__cites__paper", "paper__rev_cites__paper"
    convs[one], convs[other] = convs[other], convs[one]
    layers[0] = (convs, torch.relu)
    done = layerwise_inference(pages, layers, out=tmp_path / "y", call=by_parts, memory="80KiB")
    assert (wanted["paper"] - outputs_in(done)["paper"]).abs().max() > 1e-2


@pytest.mark.parametrize("types", [None, ["paper"], ["place"]])
def test_layers_of_to_hetero_as_they_are(nn, pages, tmp_path, types):
    """Each layer is a model of its own, called with dicts; also for some types alone."""

    class Layer(torch.nn.Module):
        def __init__(self, *, is_last):
            super().__init__()
            self.conv = nn.SAGEConv((-1, -1), 8)
            self.is_last = is_last

        def forward(self, x, edge_index):
            out = self.conv(x, edge_index)
            return out if self.is_last else out.relu()

    torch.manual_seed(3)
    metadata = (list(pages.node_types), list(pages.edge_types))
    layers = [nn.to_hetero(Layer(is_last=i == 2), metadata) for i in range(3)]
    x, edges = whole_of(pages)
    with torch.no_grad():
        for layer in layers:
            x = layer(x, edges)
    done = layerwise_inference(pages, layers, out=tmp_path / "y", types=types, memory="80KiB")
    assert list(done) == list(types or pages.node_types)
    for name, found in outputs_in(done).items():
        assert (x[name] - found).abs().max() < 1e-5
    assert all(layer.training for layer in layers)


@pytest.mark.filterwarnings("ignore:There exist node types")  # PyG's, which is what is tried
def test_types_that_a_layer_gives_nothing_for(nn, ds, tmp_path):
    """HeteroConv gives rows for the destinations of its relations; others have none then."""
    torch.manual_seed(1)
    first = nn.HeteroConv({WRITES: nn.SAGEConv((24, 16), 8), CITES: nn.SAGEConv(16, 8)})
    second = nn.HeteroConv({CITES: nn.SAGEConv(8, 4)})
    x, edges = whole_of(ds)
    with torch.no_grad():
        wanted = second(first(x, edges), edges)["paper"]
    seen = []

    def call(layer, block):
        seen.append((layer is first, block.target_type, sorted(block.x)))
        return layer(block.pairs, block.adj)

    for options in ({}, {"call": call}):
        done = layerwise_inference(
            ds,
            [first, second],
            out=tmp_path / "y",
            relations=[WRITES, CITES],
            memory="2MiB",
            **options,
        )
        assert list(done) == ["paper"]
        assert torch.allclose(outputs_in(done)["paper"], wanted, rtol=1e-5, atol=1e-3)
    assert {(is_first, name, tuple(x)) for is_first, name, x in seen} == {
        *((True, name, ("author", "paper")) for name in COUNTS),
        *((False, name, ("paper",)) for name in COUNTS),
    }
    # Those without rows are tried with one block, and left out.
    assert sum(name == "author" for _, name, _ in seen) == 2


def test_only_what_is_needed_is_computed(ds, tmp_path):
    seen = []

    def call(layer, block):
        if block.num_targets:
            seen.append((layer, block.target_type))
        return torch.ones(block.num_targets, 2)

    options = {"out": tmp_path / "y", "call": call}
    done = layerwise_inference(ds, [0, 1, 2], types=["institution"], **options)
    assert list(done) == ["institution"]
    assert seen == [
        *((0, name) for name in ("paper", "author", "institution")),
        *((1, name) for name in ("author", "institution")),
        (2, "institution"),
    ]
    seen.clear()
    layerwise_inference(ds, [0, 1], types=["institution"], relations=[CITES], **options)
    assert seen == [(0, "institution"), (1, "institution")]
    seen.clear()
    layerwise_inference(ds, [0], types="topic", direction="out", **options)
    assert seen == [(0, "topic")]


@settings(max_examples=8)
@given(data=st.data())
def test_any_graph(data, tmp_path):
    """Sums over neighbors in one, two and three relations, some of them without edges."""
    counts = {"a": data.draw(st.integers(1, 9)), "b": data.draw(st.integers(1, 9)), "c": 4}
    ends = [("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"), ("c", "c")]
    chosen = data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=4, unique=True))
    relations = {}
    for source, destination in chosen:
        edges = st.tuples(
            st.integers(0, counts[source] - 1), st.integers(0, counts[destination] - 1)
        )
        pairs = np.array(data.draw(st.lists(edges, max_size=25)), np.int64).reshape(-1, 2)
        relations[source, "to", destination] = (pairs[:, 0].copy(), pairs[:, 1].copy())
    order = data.draw(st.sampled_from(["hot", "given"]))
    dataset = make_rows(tmp_path / "d", relations, counts, order=order, overwrite=True)
    direction = data.draw(st.sampled_from(["in", "out"]))

    def layer(x, edge_index):
        out = {name: rows.clone() for name, rows in x.items()}
        for (source, _, destination), (row, col) in edge_index.items():
            near, far = (source, destination) if direction == "in" else (destination, source)
            if direction == "out":
                row, col = col, row  # noqa: PLW2901
            sums = x[near].sum(dim=1)[row] * 0.1
            out[far] = out[far].index_add(0, col, sums[:, None].expand(-1, out[far].shape[1]))
        return out

    x, edges = whole_of(dataset)
    num_layers = data.draw(st.integers(1, 3))
    for _ in range(num_layers):
        x = layer(x, edges)
    types = data.draw(st.none() | st.lists(st.sampled_from(list(counts)), min_size=1, unique=True))
    done = layerwise_inference(
        dataset,
        [layer] * num_layers,
        out=tmp_path / "y",
        types=types,
        direction=direction,
        memory=data.draw(st.integers(20_000, 60_000)),
    )
    assert sorted(done) == sorted(types or counts)
    for name, found in outputs_in(done).items():
        torch.testing.assert_close(found, x[name], rtol=1e-4, atol=1e-4)


def test_blocks_take_no_more_than_they_may(ds, tmp_path):
    memory, most, sizes = 800 << 10, 0, []

    def call(_, block):
        nonlocal most
        rows = sum(rows.nbytes for rows in block.x.values())
        counts = sum(map(len, block.nodes.values())) + sum(map(len, block.edge_ids.values()))
        most = max(most, rows + counts * 32)
        sizes.append(block.num_targets)
        return block.x.get(block.target_type, torch.ones(block.num_targets, 1))

    layerwise_inference(ds, [None], out=tmp_path / "y", call=call, memory=memory)
    assert most < memory / 6
    assert len(sizes) > 8
    assert sum(sizes) == ds.num_nodes
    with pytest.raises(BudgetError, match=r"node \d+ of type 'paper' has \d+ neighbors, .*memory="):
        layerwise_inference(ds, [None], out=tmp_path / "z", call=call, memory="5KiB")
    assert not (tmp_path / "z").exists()


@pytest.mark.parametrize("direction", ["in", "out"])
def test_weights_and_ids_are_those_of_the_edges(ds, tmp_path, direction):
    graphs = {relation: part.graph for relation, part in ds.edges.items()}
    lists = {relation: graph.neighbor_lists(direction) for relation, graph in graphs.items()}
    near, far = (0, 1) if direction == "in" else (1, 0)

    def call(_, block):
        for relation, ends in block.edge_index.items():
            own, other = (relation[2], relation[0]) if near == 0 else (relation[0], relation[2])
            if own != block.target_type:
                assert ends.shape == (2, 0)
                continue
            places = block.edge_ids[relation].numpy()
            where = places if direction == "in" else np.argsort(lists[relation].edge_ids)[places]
            assert (block.edge_weight[relation].numpy() == lists[relation].weights[where]).all()
            neighbors = block.nodes[other][ends[near]].numpy()
            assert (neighbors == lists[relation].indices[where]).all()
            owners = block.nodes[own][ends[far]].numpy()
            found = np.searchsorted(lists[relation].indptr, where, side="right") - 1
            assert (owners == found).all()
        if direction == "in":
            for relation, adj in block.adj.items():
                assert torch.equal(adj.values(), block.edge_weight[relation])
                assert adj.shape == (block.num_targets, len(block.nodes[relation[0]]))
        elif any(ends.shape[1] for ends in block.edge_index.values()):
            with pytest.raises(ValueError, match="do not lead to the nodes to compute"):
                _ = block.adj
        return torch.ones(block.num_targets, 1)

    layerwise_inference(
        ds,
        [None],
        out=tmp_path / "y",
        call=call,
        weights=True,
        direction=direction,
        memory="800KiB",
    )


def test_files_and_progress(ds, tmp_path):
    out, tmp = tmp_path / "y", tmp_path / "tmp"
    tmp.mkdir()
    told, met = [], set()

    def call(layer, block):
        met.add((layer, len(os.listdir(next(tmp.iterdir()))), block.target_type))
        return torch.full((block.num_targets, 2), float(layer))

    options = {"out": out, "tmp": tmp, "memory": "1MiB"}
    layerwise_inference(
        ds,
        [0, 1, 2],
        call=call,
        progress=lambda done, total: told.append((done, total)),
        **options,
    )
    assert told[-1] == (1000, 1000)
    assert told == sorted(told)
    assert max(count for layer, count, _ in met if layer == 1) == 2 * len(COUNTS) - 1
    assert max(count for layer, count, _ in met if layer == 2) == len(COUNTS)
    assert list(tmp.iterdir()) == []
    (out / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    for error in (RuntimeError, KeyboardInterrupt):

        def fail(layer, block, error=error):
            if layer == 1 and block.target_type == "topic":
                raise error
            return torch.zeros(block.num_targets, 1)

        with pytest.raises(error):
            layerwise_inference(ds, [0, 1], call=fail, **options)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        assert list(tmp.iterdir()) == []
        with pytest.raises(error):
            layerwise_inference(ds, [0, 1], call=fail, out=tmp_path / "new")
        assert not (tmp_path / "new").exists()


def test_dtypes_and_tables(ds, tmp_path):
    seen = {}

    def call(layer, block):
        seen.update({(layer, name): rows.dtype for name, rows in block.x.items()})
        rows = torch.ones(block.num_targets, 2)
        return rows.double() if block.target_type == "paper" else rows

    done = layerwise_inference(
        ds, [0, 1], out=tmp_path / "y", features={"paper": "year"}, call=call, dtype="float16"
    )
    assert {each.dtype for each in done.values()} == {"float16"}
    assert seen[0, "paper"] == torch.float32
    assert (0, "author") not in seen
    assert seen[1, "paper"] == torch.float64  # what was computed in it, however it is stored
    assert seen[1, "author"] == torch.float32
    done = layerwise_inference(
        ds, [0], out=tmp_path / "y", call=lambda _, block: torch.arange(block.num_targets)
    )
    assert done["topic"].shape == (COUNTS["topic"],)
    assert done["topic"].dtype == "int64"


def test_a_type_without_nodes(tmp_path):
    relations = {("a", "to", "b"): (np.empty(0, np.int64), np.empty(0, np.int64))}
    dataset = make_rows(tmp_path / "d", relations, {"a": 0, "b": 3})
    done = layerwise_inference(dataset, [lambda x, _: x] * 2, out=tmp_path / "y")
    assert {name: each.shape for name, each in done.items()} == {"a": (0, 3), "b": (3, 4)}
    nobody = make_rows(tmp_path / "e", relations, {"a": 0, "b": 0})
    with pytest.raises(ValueError, match="has no nodes, so there is nothing to compute"):
        layerwise_inference(nobody, [lambda x, _: x], out=tmp_path / "y")


def test_refusals(ds, tmp_path):
    out = tmp_path / "out"

    def run(*layers, **options):
        layerwise_inference(ds, layers or [lambda x, _: x], **{"out": out, **options})

    with pytest.raises(
        ValueError, match=r"types: there is no node type 'papers'; there are 'paper"
    ):
        run(types=["papers"])
    with pytest.raises(ValueError, match=r"relations: there is no relation 'writes'; there are"):
        run(relations=["writes"])
    with pytest.raises(ValueError, match="types is empty"):
        run(types=[])
    with pytest.raises(ValueError, match="relations is empty"):
        run(relations=[])
    with pytest.raises(ValueError, match=r"no type has a table 'z' .*; there are \['x', 'year'\]"):
        run(features="z")
    with pytest.raises(ValueError, match=r"features\['author'\]: there is no table 'year' of"):
        run(features={"author": "year"})
    with pytest.raises(ValueError, match=r"features: there is no node type 'person'"):
        run(features={"person": "x"})
    with pytest.raises(TypeError, match=r"features\['paper'\] must be the name of a table"):
        run(features={"paper": 3})
    with pytest.raises(ValueError, match=r"layers\[0\] for 'paper' gave list, neither a dict of"):
        run(lambda x, _: [x])
    with pytest.raises(ValueError, match=r"layers\[1\] for 'author' gave 1 rows for \d+ nodes"):
        run(lambda x, _: x, lambda x, _: {**x, "author": x["author"][:1]})
    with pytest.raises(ValueError, match=r"layers\[0\] gave rows for none of \['paper', 'author'"):
        run(lambda *_: {})
    with pytest.raises(ValueError, match=r"layers\[0\] gave no rows for \['topic'\], which types="):
        run(types=["paper", "topic"])
    blocks = iter([True] + [False] * 100)

    def first_alone(_, block):
        return {"paper": block.x["paper"]} if next(blocks) else {}

    with pytest.raises(ValueError, match=r"for 'paper' gave NoneType, not a tensor"):
        run(None, call=first_alone, types=["paper"], memory="800KiB")
    with pytest.raises(SourceError, match=r"layers\[0\] for 'paper', row 0, column 0: .*float16"):
        run(lambda x, _: {"paper": x["paper"] * 0 + 1e6}, dtype="float16")
    with pytest.raises(FileNotFoundError, match="No such folder to put out into"):
        run(out=tmp_path / "nowhere" / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file; of many types, there is a file for"):
        run(out=tmp_path / "file")
    assert not out.exists()
    gm.compile_graph(([0], [1]), tmp_path / "g.gl")
    gm.compile_features(np.zeros((2, 1)), tmp_path / "x.gd")
    data = gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd")
    with pytest.raises(ValueError, match=r"types=\['a'\] is for a TypedDataset"):
        layerwise_inference(data, [lambda x, _: x], out=out, types=["a"])
    plain = make_rows(tmp_path / "d", {("a", "to", "b"): ([0], [1])}, {"a": 2, "b": 2})
    with pytest.raises(MissingDataError, match=r"no relation .* has weights; compile it with"):
        layerwise_inference(plain, [lambda x, _: x], out=out, weights=True)
    os.symlink(ds.nodes["paper"].features["x"].path, tmp_path / "paper.gd")
    with pytest.raises(ValueError, match="would replace one of its own sources"):
        run(out=tmp_path)


def test_relations_that_are_there_and_not_used_are_not_read(ds, tmp_path):
    seen = set()

    def call(_, block):
        seen.update(block.edge_index)
        assert set(block.nodes) == set(COUNTS)
        if block.target_type == "institution":
            assert not len(block.nodes["author"])
        return torch.ones(block.num_targets, 1)

    relations = [CITES, REV_WRITES, REV_AT]
    layerwise_inference(ds, [None], out=tmp_path / "y", call=call, relations=relations)
    assert seen == set(relations)
    assert AT not in seen
