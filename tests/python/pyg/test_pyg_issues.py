"""What people have reported of PyG's loaders does not happen here; docs/pyg-issues.md lists it."""

from __future__ import annotations

import gc
import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from run_mode import IS_SANITIZED  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import NodeLoader  # noqa: E402

import graphmount.pyg  # noqa: E402

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")


@pytest.fixture
def many_kinds(tmp_path):
    generator = np.random.default_rng(1)
    gm.compile_dataset(
        tmp_path / "mag",
        nodes={
            "paper": gm.Nodes(features={"x": np.arange(200.0)[:, None]}),
            "author": gm.Nodes(num_nodes=80),
        },
        edges={
            WRITES: (generator.integers(0, 80, 900), generator.integers(0, 200, 900)),
            CITES: generator.integers(0, 200, (2, 1500)),
        },
        reverse=True,
    )
    return tmp_path / "mag"


DRAW = """
import sys
import torch
from torch_geometric.loader import NodeLoader
import graphmount as gm
import graphmount.pyg

dataset = gm.Dataset(sys.argv[1])
for threads in sys.argv[2:]:
    gm.set_num_threads(int(threads))
    torch.manual_seed(42)
    sampler = gm.pyg.NeighborSampler(dataset, [2, 2], ids="external")
    inputs = ("paper", torch.arange(200))
    for batch in NodeLoader(dataset.to_pyg(), sampler, inputs, batch_size=50, shuffle=True):
        for name in dataset.node_types:
            print(name, batch[name].n_id.tolist())
    print("END OF RUN")
"""


def test_527_the_same_batches_in_every_run(many_kinds):
    # Two processes, the first of which runs it twice, since importing PyG takes long.
    runs = []
    for threads in (["1", "2"], ["2"]):
        found = subprocess.run(
            [sys.executable, "-c", DRAW, many_kinds, *threads],
            capture_output=True,
            text=True,
            check=True,
        )
        runs += found.stdout.split("END OF RUN\n")[:-1]
    assert len(runs) == 3
    assert len(runs[0]) > 1000
    assert runs[0] == runs[1] == runs[2]


def test_7794_no_edges_from_the_future(tmp_path):
    data = Data(
        edge_index=torch.tensor([[1, 0, 1, 1, 2], [0, 1, 2, 0, 0]]),
        edge_time=torch.tensor([1, 2, 3, 4, 5]),
        num_nodes=3,
    )
    for time, expected in ((1, []), (2, [2]), (9, [2])):
        loader = gm.pyg.NeighborLoader(
            data,
            num_neighbors=[-1],
            input_nodes=torch.tensor([1]),
            time_attr="edge_time",
            input_time=torch.tensor([time]),
            cache=tmp_path,
            progress=False,
        )
        assert next(iter(loader)).edge_time.tolist() == expected


def test_10566_induced_subgraphs_in_time(tmp_path):
    data = Data(
        x=torch.rand(5, 3),
        edge_index=torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]]),
        edge_time=torch.arange(1, 9),
    )
    loader = gm.pyg.NeighborLoader(
        data,
        num_neighbors=[2, 1],
        input_nodes=torch.tensor([0, 4]),
        input_time=torch.tensor([3, 7]),
        time_attr="edge_time",
        subgraph_type="induced",
        batch_size=2,
        cache=tmp_path,
        progress=False,
    )
    batch = next(iter(loader))
    assert batch.n_id.tolist() == [0, 4, 1, 3, 2]
    # Of the first tree, nodes 0 and 1; of the second, nodes 4, 3 and 2, without the edge of time 8.
    assert sorted(batch.e_id.tolist()) == [0, 1, 4, 5, 6]
    limits = torch.tensor([3, 7])[batch.batch[batch.edge_index[1]]]
    assert (batch.edge_time <= limits).all()


@pytest.mark.parametrize("num_edges", [4, 40])
def test_9566_rows_of_edges_go_by_edges(tmp_path, num_edges):
    generator = np.random.default_rng(2)
    edges = generator.integers(0, 12, (2, num_edges))
    rows = np.arange(num_edges, dtype=np.float32)[:, None]
    gm.compile_dataset(tmp_path / "d", edges=tuple(edges), edge_features={"a": rows}, num_nodes=12)
    dataset = gm.Dataset(tmp_path / "d")
    theirs = NodeLoader(
        dataset.to_pyg(),
        gm.pyg.NeighborSampler(dataset, [-1], ids="external"),
        torch.arange(12),
        batch_size=12,
        transform=gm.pyg.EdgeFeatures(dataset),
    )
    ours = gm.pyg.NeighborLoader(dataset, [-1], batch_size=12)
    for loader in (theirs, ours):
        batch = next(iter(loader))
        ends = dataset.to_external(batch.n_id.numpy())[batch.edge_index.numpy()]
        assert len(batch.a) == num_edges
        assert np.array_equal(ends, edges[:, batch.a[:, 0].long().numpy()])


def test_10144_seeds_are_the_inputs(tmp_path):
    ring = torch.stack([torch.arange(7), (torch.arange(7) + 1) % 7])
    data = Data(x=torch.arange(7.0)[:, None], edge_index=ring)
    inputs = torch.tensor([1, 3, 5])
    loader = gm.pyg.NeighborLoader(
        data, [1, 1], input_nodes=inputs, batch_size=2, cache=tmp_path, progress=False
    )
    seeds, places = [], []
    for batch in loader:
        seeds += batch.n_id[: batch.batch_size].tolist()
        places += batch.input_id.tolist()
        assert batch.x[:, 0].tolist() == batch.n_id.tolist()
    assert seeds == [1, 3, 5]
    assert places == [0, 1, 2]


def test_9924_seeds_come_first(many_kinds):
    dataset = gm.Dataset(many_kinds)
    sampler = gm.pyg.NeighborSampler(dataset, [5, 5], ids="external")
    order = torch.randperm(200)
    for number, batch in enumerate(
        NodeLoader(dataset.to_pyg(), sampler, ("paper", order), batch_size=32)
    ):
        size = batch["paper"].batch_size
        seeds = batch["paper"].x[:size, 0].long()  # a row has the id that the source has
        assert torch.equal(seeds, order[32 * number : 32 * number + size])


def test_5348_there_are_no_processes_that_could_hang(tmp_path):
    data = Data(x=torch.rand(100, 4), edge_index=torch.randint(0, 100, (2, 600)))
    with pytest.warns(UserWarning, match="with no worker processes"):
        loader = gm.pyg.NeighborLoader(
            data, [3, 3], batch_size=10, num_workers=4, cache=tmp_path, progress=False
        )
    for _ in range(30):
        assert sum(1 for _ in loader) == 10
        assert multiprocessing.active_children() == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_3198_memory_stays(tmp_path):
    if IS_SANITIZED:
        pytest.skip("sanitizers keep freed memory")
    data = Data(x=torch.rand(2000, 32), edge_index=torch.randint(0, 2000, (2, 20_000)))
    loader = gm.pyg.NeighborLoader(
        data, [10, 10], batch_size=128, shuffle=True, cache=tmp_path, progress=False
    )

    def epochs(count):
        for _ in range(count):
            for _ in loader:
                pass
        gc.collect()
        return gm.memory().anonymous_bytes

    # What the allocator keeps may grow once, when threads happen to meet; a leak grows each time.
    found = [epochs(20)]
    while len(found) < 4 and (len(found) == 1 or found[-1] - found[-2] >= 8 << 20):
        found.append(epochs(60))
    assert found[-1] - found[-2] < 8 << 20, found


def test_an_epoch_goes_on_where_it_was_left(tmp_path):
    data = Data(x=torch.rand(100, 4), edge_index=torch.randint(0, 100, (2, 600)))

    def make():
        return gm.pyg.NeighborLoader(
            data, [3], batch_size=10, shuffle=True, seed=7, cache=tmp_path, progress=False
        )

    whole = [batch.n_id[: batch.batch_size].tolist() for batch in make()]
    first = make()
    seen = []
    for batch in first:
        seen.append(batch.n_id[: batch.batch_size].tolist())
        if len(seen) == 4:
            break
    second = make()
    second.load_state_dict(first.state_dict())
    seen += [batch.n_id[: batch.batch_size].tolist() for batch in second]
    assert seen == whole
