"""Scripts as PyG's examples are written: with our loaders they are as accurate as in memory.

Each script is a function that gets its loader class, which is all that differs: it is the import
line. What they do with loaders is what the examples do, from `copy.copy(data)` to `x_all[n_id]`.
The accuracies may differ by what chance makes of other samples. That the bound is tight enough is
shown by loaders which mix up the nodes: they are used by the same scripts, and found out.
"""

from __future__ import annotations

import copy
import functools
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
if not (Path(__file__).parents[3] / "benchmarks").exists():
    pytest.skip("no benchmarks (not a clone)", allow_module_level=True)
import in_memory_loaders as in_memory  # noqa: E402
from community_data import NUM_CLASSES, NUM_FEATURES, NUM_NODES, community_data  # noqa: E402
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy  # noqa: E402
from torch_geometric.nn import GraphSAGE, SAGEConv  # noqa: E402

import graphmount.pyg  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(IS_SANITIZED, reason="takes too long under a sanitizer"),
    pytest.mark.filterwarnings("ignore:num_workers, persistent_workers. without effect"),
]
KWARGS = {"batch_size": 128, "num_workers": 2, "persistent_workers": True}
#: How far apart mean accuracies may be: three times what chance makes of 300 nodes and three runs.
BOUND = 0.03


def share_right(found, data, mask):
    return float((found[mask] == data.y.view(-1)[mask]).float().mean())


def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def loss_of_seeds(model, batch, **options):
    out = model(batch.x, batch.edge_index, **options)[: batch.batch_size]
    return cross_entropy(out, batch.y[: batch.batch_size].view(-1))


class LayerByLayer(torch.nn.Module):
    """The model of the Reddit example: inference goes over all nodes once for each layer."""

    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList([SAGEConv(NUM_FEATURES, 32), SAGEConv(32, NUM_CLASSES)])

    def forward(self, x, edge_index):
        return self.convs[1](self.convs[0](x, edge_index).relu(), edge_index)

    @torch.no_grad()
    def inference(self, x_all, subgraph_loader):
        for conv in self.convs:
            seeds = []
            for batch in subgraph_loader:
                assert "x" not in batch
                assert "y" not in batch
                out = conv(x_all[batch.n_id], batch.edge_index)[: batch.batch_size]
                seeds.append(out.relu() if conv is self.convs[0] else out)
            x_all = torch.cat(seeds)
        return x_all


def reddit(loaders):
    """examples/reddit.py: masks, and a second loader for inference that has no features."""
    data = community_data()
    train_loader = loaders.NeighborLoader(
        data, input_nodes=data.train_mask, num_neighbors=[10, 5], shuffle=True, **KWARGS
    )
    subgraph_loader = loaders.NeighborLoader(
        copy.copy(data), input_nodes=None, num_neighbors=[-1], shuffle=False, **KWARGS
    )
    del subgraph_loader.data.x, subgraph_loader.data.y
    subgraph_loader.data.num_nodes = data.num_nodes
    subgraph_loader.data.n_id = torch.arange(data.num_nodes)
    assert len(train_loader.dataset) == int(data.train_mask.sum())
    assert len(subgraph_loader.dataset) == NUM_NODES
    model = LayerByLayer()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        for batch in train_loader:
            step(optimizer, loss_of_seeds(model, batch))
    found = model.inference(data.x, subgraph_loader).argmax(dim=1)
    return share_right(found, data, data.test_mask)


def ogbn_train(loaders):
    """examples/ogbn_train.py: a split as ids, labels in a column, three loaders."""
    data = community_data(column_of_labels=True)
    split = {
        name: data[f"{name}_mask"].nonzero().view(-1)[torch.randperm(NUM_NODES // 8)]
        for name in ("val", "test")
    }
    split["train"] = data.train_mask.nonzero().view(-1)
    by_split = {
        name: loaders.NeighborLoader(
            data, input_nodes=nodes, num_neighbors=[5] * 3, shuffle=True, **KWARGS
        )
        for name, nodes in split.items()
    }
    model = GraphSAGE(NUM_FEATURES, 32, num_layers=3, out_channels=NUM_CLASSES, dropout=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        for batch in by_split["train"]:
            step(optimizer, loss_of_seeds(model, batch))
    model.eval()
    right = tested = 0
    for batch in by_split["test"]:
        batch_size = batch.to("cpu").num_sampled_nodes[0]
        with torch.no_grad():
            out = model(batch.x, batch.edge_index)[:batch_size].argmax(dim=1)
        right += int((out == data.y[batch.n_id[:batch_size]].view(-1)).sum())
        tested += batch_size
    assert tested == len(split["test"])
    return right / tested


def hierarchical_sampling(loaders):
    """examples/hierarchical_sampling.py: layers do without the hops that they no longer need."""
    data = community_data()
    loader = loaders.NeighborLoader(
        data, input_nodes=data.train_mask, num_neighbors=[8, 5, 3], shuffle=True, **KWARGS
    )
    model = GraphSAGE(NUM_FEATURES, 32, num_layers=3, out_channels=NUM_CLASSES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(4):
        for batch in loader:
            hops = {
                "num_sampled_nodes_per_hop": batch.num_sampled_nodes,
                "num_sampled_edges_per_hop": batch.num_sampled_edges,
            }
            loss = loss_of_seeds(model, batch, **hops)
            if epoch == 0:  # the same is computed, with fewer rows
                assert torch.allclose(loss, loss_of_seeds(model, batch), atol=1e-5)
            step(optimizer, loss)
    model.eval()
    with torch.no_grad():
        found = model(data.x, data.edge_index).argmax(dim=1)
    return share_right(found, data, data.test_mask)


def graph_sage_unsup(loaders):
    """examples/graph_sage_unsup.py: links and negatives, then a classifier of what was learnt."""
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    data = community_data()
    loader = loaders.LinkNeighborLoader(
        data, batch_size=512, shuffle=True, neg_sampling_ratio=1.0, num_neighbors=[5, 5]
    )
    model = GraphSAGE(NUM_FEATURES, 32, num_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for batch in loader:
        h = model(batch.x, batch.edge_index)
        src, dst = batch.edge_label_index
        step(
            optimizer, binary_cross_entropy_with_logits((h[src] * h[dst]).sum(1), batch.edge_label)
        )
    model.eval()
    with torch.no_grad():
        out = model(data.x, data.edge_index).numpy()
    classifier = linear.LogisticRegression(max_iter=1000)
    classifier.fit(out[data.train_mask], data.y[data.train_mask])
    return share_right(torch.from_numpy(classifier.predict(out)), data, data.test_mask)


def graph_sage_lightning(loaders):
    """A module of Lightning that makes a loader for each mask."""
    pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    from lightning_modules import Communities, share_right_of

    return share_right_of(Communities(loaders, **KWARGS))


def lightning_node_data(loaders):
    """examples/pytorch_lightning/graph_sage.py: PyG's module, which is given a sampler."""
    pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    from lightning_modules import pygs_module, share_right_of

    return share_right_of(pygs_module(loaders.sampler_of))


def lightning_module(loaders):
    """The same example, whose module comes from another package."""
    pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    from lightning_modules import community_data, share_right_of

    data = community_data()
    module = loaders.LightningNodeData(
        data,
        input_train_nodes=data.train_mask,
        input_val_nodes=data.val_mask,
        input_test_nodes=data.test_mask,
        num_neighbors=[10, 5],
        batch_size=128,
    )
    return share_right_of(module)


def sampler_of(data, num_neighbors):
    """Over a graph that is compiled alone, and so has the ids of the `Data`."""
    path = Path(os.environ["GRAPHMOUNT_CACHE"]).with_name("data.gl")
    graph = gm.Graph(gm.compile_graph(data, path).path)
    return gm.pyg.NeighborSampler(graph, num_neighbors)


#: What scripts get from graphmount.
mounted = SimpleNamespace(
    NeighborLoader=gm.pyg.NeighborLoader,
    LinkNeighborLoader=gm.pyg.LinkNeighborLoader,
    LightningNodeData=gm.pyg.LightningNodeData,
    sampler_of=sampler_of,
)


def renumbered(data):
    """The same graph, its nodes in another order: ids of a script then name other nodes."""
    order = torch.from_numpy(np.random.default_rng(9).permutation(NUM_NODES))
    other = copy.copy(data)
    for name, value in data.to_dict().items():
        if data.is_node_attr(name):
            other[name] = value[order]
    other.edge_index = torch.argsort(order)[data.edge_index]
    return other


def with_rows_of_others(data):
    """The same graph, but nodes have the features of other ones."""
    other = copy.copy(data)
    other.x = data.x[torch.from_numpy(np.random.default_rng(9).permutation(NUM_NODES))]
    return other


def of_other_data(change):
    """Our loaders, but of a changed `Data`."""

    def made(loader):
        return lambda data, *given, **options: loader(change(data), *given, **options)

    return SimpleNamespace(**{name: made(loader) for name, loader in vars(mounted).items()})


SCRIPTS = [
    reddit,
    ogbn_train,
    hierarchical_sampling,
    graph_sage_unsup,
    graph_sage_lightning,
    lightning_node_data,
    lightning_module,
]
#: Links are all edges by default, so a graph with its nodes in another order is as good for them;
#: and rows of PyG's module are those of the `Data`, whatever the sampler knows of it.
MIXED_UP = [
    (script, with_rows_of_others) for script in SCRIPTS if script is not lightning_node_data
]
MIXED_UP += [(script, renumbered) for script in SCRIPTS if script is not graph_sage_unsup]


def accuracy(script, loaders, num_runs=3):
    found = []
    for seed in range(num_runs):
        torch.manual_seed(seed)
        found.append(script(loaders))
    return float(np.mean(found))


@pytest.fixture(scope="module")
def accuracy_in_memory():
    """That of a script, which is found once."""
    return functools.cache(lambda script: accuracy(script, in_memory))


def check(script, loaders, expected, num_runs=3):
    assert expected > 0.9, "the script learns too little to show something"
    found = accuracy(script, loaders, num_runs)
    assert abs(found - expected) < BOUND, f"{found:.3f}, and {expected:.3f} with data in memory"


def name_of(value):
    return value.__name__


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_accuracy_is_that_of_data_in_memory(script, accuracy_in_memory):
    check(script, mounted, accuracy_in_memory(script))


@pytest.mark.parametrize(("script", "change"), MIXED_UP, ids=name_of)
def test_nodes_that_are_mixed_up_are_found_out(script, change, accuracy_in_memory):
    with pytest.raises(AssertionError, match="with data in memory"):
        check(script, of_other_data(change), accuracy_in_memory(script), num_runs=1)
