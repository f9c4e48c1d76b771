"""`aggregate_last` of the loader for PyG: where batches have what was made, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="PyG is not installed")

from neighbor_twin import neighbor_rows  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402

import graphmount.pyg  # noqa: E402
import graphmount.torch.nn  # noqa: E402

NUM_NODES = 120


def make_data(**more):
    generator = torch.Generator().manual_seed(0)
    return Data(
        x=torch.randn(NUM_NODES, 6, generator=generator),
        edge_index=torch.randint(0, NUM_NODES, (2, 900), generator=generator),
        y=torch.randn(NUM_NODES, generator=generator),
        **more,
    )


def make_loader(data, **options):
    given = {"batch_size": 20, "shuffle": True, "seed": 1, "aggregate_last": "mean", **options}
    return gm.pyg.NeighborLoader(data, [4, 3], **given)


def check(batch, rows, name="x", reduce="mean"):
    """Compares with the rows of all nodes, by the ids of the source."""
    expected = neighbor_rows(rows[batch.n_id].numpy(), batch, reduce)
    np.testing.assert_array_equal(batch[f"{name}_aggregated"].numpy(), expected)
    assert torch.equal(batch[name], rows[batch.n_id][: len(expected)])


@pytest.mark.parametrize("reduce", ["mean", "sum"])
def test_batches_of_a_data(reduce):
    data = make_data(
        cube=torch.randn(NUM_NODES, 2, 3), one=torch.randn(NUM_NODES), kind=torch.arange(NUM_NODES)
    )
    for batch in make_loader(data, aggregate_last=reduce):
        for name in ("x", "cube", "one"):
            check(batch, data[name], name, reduce)
        assert torch.equal(batch.kind, batch.n_id)  # no floats: of all nodes
        assert torch.equal(batch.y, data.y[batch.n_id])  # labels, though they are floats
        assert "y_aggregated" not in batch
        assert batch.adjs[0].reduce == reduce
        assert batch.num_nodes == len(batch.n_id)


def test_a_batch_made_at_once_is_the_same_kind():
    data = make_data()
    loader = make_loader(data)
    batch = loader([3, 5, 7])
    check(batch, data.x)
    assert batch.adjs[0].num_targets == len(batch.x)


def test_batches_of_a_dataset(tmp_path):
    data = make_data()
    gm.compile_dataset(
        tmp_path / "d", edges=data.edge_index, features={"x": data.x}, labels=np.arange(NUM_NODES)
    )
    dataset = gm.Dataset(tmp_path / "d")
    rows = torch.from_numpy(dataset.features["x"].gather(dataset.as_internal(np.arange(NUM_NODES))))
    for batch in (*make_loader(dataset), make_loader(dataset)([1, 2])):
        check(batch, rows)
        assert len(batch.y) == batch.num_nodes


def test_what_is_deleted_from_the_data_is_not_aggregated():
    data = make_data(more=torch.randn(NUM_NODES, 2))
    loader = make_loader(data)
    del loader.data.more
    for batch in (next(iter(loader)), loader([0])):
        assert "more_aggregated" not in batch
        check(batch, data.x)


def test_transforms_and_copies():
    def transform(batch):
        batch.pair = batch.x_aggregated, batch.x
        return batch

    batch = next(iter(make_loader(make_data(), transform=transform)))
    assert batch.pair[0] is batch.x_aggregated
    moved = batch.clone().to("cpu")
    assert moved.adjs[0] == batch.adjs[0]
    assert torch.equal(moved.x_aggregated, batch.x_aggregated)
    assert batch.to("meta").x_aggregated.device.type == "meta"


def test_a_model_of_both_kinds_of_layers():
    """The first layer is ours, the others PyG's, over the matrices that follow."""
    data = make_data()
    torch.manual_seed(0)
    first, second = gm.torch.nn.SAGEConv(6, 8), SAGEConv(8, 3)
    plain = make_loader(data, aggregate_last=None)
    for one, two in zip(plain, make_loader(data), strict=True):
        expected = first(one.x, one.adjs[0]).relu()
        expected = second((expected, expected[: one.batch_size]), one.adjs[1])
        found = first((two.x_aggregated, two.x), two.adjs[0]).relu()
        found = second((found, found[: two.batch_size]), two.adjs[1])
        torch.testing.assert_close(found, expected)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        SAGEConv(6, 8)((two.x_aggregated, two.x), two.adjs[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregate_last": "max"}, "aggregate_last"),
        ({"subgraph_type": "induced"}, "needs subgraph_type='directional', not 'induced'"),
        ({"directed": False}, "needs subgraph_type='directional', not 'induced'"),
        ({"direction": "out"}, "needs direction='in', not 'out'"),
        ({"dtype": torch.float64}, "float64 rows of table 'x'"),
        ({"features": []}, "there is none"),
    ],
)
def test_refused(options, message, cache):
    with pytest.raises(ValueError, match=message):
        make_loader(make_data(), **options)
    is_of_tables = "dtype" in options or "features" in options
    assert cache.exists() == is_of_tables  # others are refused before anything is compiled


def test_a_name_that_is_taken_is_refused():
    for more in ({"x_aggregated": torch.randn(NUM_NODES, 2)}, {"x_aggregated": "what it is"}):
        with pytest.raises(ValueError, match="have what is made of 'x' as 'x_aggregated'"):
            make_loader(make_data(**more))
