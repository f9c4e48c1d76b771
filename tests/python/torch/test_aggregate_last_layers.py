"""Training with `aggregate_last`: the same results and gradients as with the rows of all nodes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")

import graphmount.torch  # noqa: E402
from graphmount.torch import nn  # noqa: E402


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("layers") / "d"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=(300 * generator.random((2, 3000)) ** 2).astype(np.int64),
        num_nodes=300,
        features={"x": generator.standard_normal((300, 70)).astype(np.float32)},
        labels=np.arange(300) % 4,
    )
    return gm.Dataset(path)


def loaders(dataset, reduce, fanouts=(4, 3, 2)):
    """Without and with `aggregate_last`, of the same batches."""
    options = {"batch_size": 100, "shuffle": True, "seed": 1}
    return (
        gm.torch.NeighborLoader(dataset, list(fanouts), **options),
        gm.torch.NeighborLoader(dataset, list(fanouts), **options, aggregate_last=reduce),
    )


def network(width):
    return torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.ReLU())


def make_layers(name):
    torch.manual_seed(0)
    if name == "GIN":
        return torch.nn.ModuleList(
            nn.GINConv(network(width), train_eps=True) for width in (70, 16, 16)
        )
    more = {"normalize": True} if name == "normalized" else {}
    aggr = "mean" if name == "normalized" else name
    widths = [(70, 16), (16, 16), (16, 4)]
    return torch.nn.ModuleList(nn.SAGEConv(*each, aggr=aggr, **more) for each in widths)


def train(layers, x, batch):
    """The rows of the seeds, and the gradients of all parameters."""
    layers.zero_grad()
    for number, (layer, adj) in enumerate(zip(layers, batch.adjs, strict=True)):
        x = layer(x, adj)
        x = x.relu() if number + 1 < len(layers) else x
    torch.nn.functional.cross_entropy(x, batch.labels).backward()
    return x.detach(), torch.cat([each.grad.flatten() for each in layers.parameters()])


@pytest.mark.parametrize(
    ("name", "reduce"), [("mean", "mean"), ("sum", "sum"), ("GIN", "sum"), ("normalized", "mean")]
)
def test_the_same_results_and_gradients(dataset, name, reduce):
    layers = make_layers(name)
    for plain, batch in zip(*loaders(dataset, reduce), strict=True):
        rows = nn.aggregate(plain.x, plain.adjs[0], reduce)
        assert torch.equal(batch.aggregated["x"], rows)  # bit by bit
        assert torch.equal(batch.x, plain.x[: len(rows)])
        expected = train(layers, plain.x, plain)
        found = train(layers, (batch.aggregated["x"], batch.x), batch)
        for one, two in zip(expected, found, strict=True):
            assert (one - two).norm() <= 1e-4 * one.norm()


def test_the_first_of_adjs_stands_for_what_was_aggregated(dataset):
    _, loader = loaders(dataset, "mean")
    batch = next(iter(loader))
    hop, *rest = batch.adjs
    num_targets = sum(batch.num_sampled_nodes[:-1])
    assert hop == gm.torch.AggregatedHop(reduce="mean", num_targets=num_targets)
    assert len(batch.adjs) == 3
    assert [adj.shape for adj in rest] == [adj.shape for adj in batch.adjs[1:]]
    assert rest[0].size(1) == num_targets
    assert batch.adjs[-1].size(0) == 100
    assert batch.adjs[:1] == [hop]
    assert "aggregate_last='mean'" in repr(batch.adjs)
    copied = pickle.loads(pickle.dumps(batch))  # noqa: S301
    for other in (batch.adjs.to("cpu"), batch.adjs.clone(), copied.adjs, batch.to("cpu").adjs):
        assert other[0] == hop
    assert torch.equal(copied.aggregated["x"], batch.aggregated["x"])
    assert batch.to("meta").aggregated["x"].device.type == "meta"


def test_workers_give_the_same(dataset):
    _, loader = loaders(dataset, "mean")
    expected = [batch.aggregated["x"] for batch in loader]
    _, loader = loaders(dataset, "mean")
    workers = torch.utils.data.DataLoader(
        gm.torch.BatchDataset(loader), batch_size=None, num_workers=1
    )
    for one, batch in zip(expected, workers, strict=True):
        assert torch.equal(one, batch.aggregated["x"])


def test_layers_that_need_something_else_refuse(dataset):
    _, loader = loaders(dataset, "mean")
    batch = next(iter(loader))
    pair, hop = (batch.aggregated["x"], batch.x), batch.adjs[0]
    with pytest.raises(ValueError, match=r"made the mean .* takes their sum.*aggregate_last='sum'"):
        nn.SAGEConv(70, 4, aggr="sum")(pair, hop)
    with pytest.raises(ValueError, match="takes their max; make the loader without aggregate_last"):
        nn.SAGEConv(70, 4, aggr="max")(pair, hop)
    with pytest.raises(ValueError, match="takes their sum"):
        nn.GINConv(torch.nn.Identity())(pair, hop)
    for call in (nn.GCNConv(70, 4), nn.GATConv(70, 4), nn.aggregate):
        with pytest.raises(ValueError, match="rows of neighbors themselves"):
            call(batch.x if isinstance(call, nn.GCNConv) else pair, hop)
    layer = nn.SAGEConv(70, 4)
    with pytest.raises(TypeError, match="x must be a pair"):
        layer(batch.x, hop)
    with pytest.raises(ValueError, match="1 aggregated rows and"):
        layer((batch.aggregated["x"][:1], batch.x), hop)
    with pytest.raises(ValueError, match="rows of floats"):
        layer((batch.aggregated["x"].long(), batch.x), hop)
    with pytest.raises(IndexError, match="there are 3 layers"):
        batch.adjs[3]


def test_the_pair_may_be_anywhere(dataset):
    """There is nothing left to do along edges, so the layer itself works on any device."""
    _, loader = loaders(dataset, "mean")
    batch = next(iter(loader)).to("meta")
    layer = nn.SAGEConv(70, 4).to("meta")
    out = layer((batch.aggregated["x"], batch.x), batch.adjs[0])
    assert out.shape == (batch.adjs[0].num_targets, 4)


def test_it_trains(dataset):
    _, loader = loaders(dataset, "mean", (5, 5))
    torch.manual_seed(0)
    convs = torch.nn.ModuleList([nn.SAGEConv(70, 32), nn.SAGEConv(32, 4)])
    optimizer = torch.optim.Adam(convs.parameters(), lr=0.01)
    losses = []
    for _ in range(25):
        for batch in loader:
            x = convs[0]((batch.aggregated["x"], batch.x), batch.adjs[0]).relu()
            x = convs[1](x, batch.adjs[1])
            loss = torch.nn.functional.cross_entropy(x, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    assert np.mean(losses[-3:]) < 0.7 * np.mean(losses[:3])
