"""PyG's own datasets over folders that PyG's classes have made, without the network."""

from __future__ import annotations

import os

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric import transforms  # noqa: E402
from torch_geometric.data import Data, HeteroData, InMemoryDataset  # noqa: E402
from torch_geometric.datasets import Flickr, Planetoid, Reddit  # noqa: E402


def graph(num_nodes=6):
    mask = torch.arange(num_nodes) % 2 == 0
    return Data(
        x=torch.arange(2.0 * num_nodes).view(num_nodes, 2),
        edge_index=torch.stack([torch.arange(num_nodes), torch.arange(num_nodes).roll(1)]),
        y=torch.arange(num_nodes),
        train_mask=mask,
        val_mask=~mask,
    )


def made(folder, *graphs):
    """A processed folder as PyG's classes save it; there are no raw files."""
    path = folder / "processed"
    path.mkdir(parents=True)
    InMemoryDataset.save(list(graphs), path / "data.pt")
    torch.save("None", path / "pre_transform.pt")
    torch.save("None", path / "pre_filter.pt")


def check(ds, data):
    nodes = ds.to_internal(np.arange(data.num_nodes))
    assert np.array_equal(ds.features["x"].numpy()[nodes], data.x.numpy())
    assert ds.labels[nodes].tolist() == data.y.tolist()
    assert ds.num_edges == data.num_edges
    found = {name: sorted(ds.to_external(ids).tolist()) for name, ids in ds.splits.items()}
    assert found["train"] == data.train_mask.nonzero().view(-1).tolist()


@pytest.mark.parametrize("cls", [Reddit, Flickr])
def test_classes_with_a_root(cls, tmp_path, capsys, monkeypatch):
    data = graph()
    made(tmp_path / "here", data)
    ds = gm.datasets.pyg(cls, tmp_path / "here")
    assert ds.path == str(tmp_path / "here-graphmount")
    check(ds, data)
    assert f"graphmount: compiled {cls.__name__} into" in capsys.readouterr().err
    monkeypatch.setattr(cls, "load", lambda *_: pytest.fail("PyG has read it into memory"))
    check(gm.datasets.pyg(cls, str(tmp_path / "here")), data)
    assert sorted(os.listdir(tmp_path)) == ["here", "here-graphmount"]
    assert os.listdir(tmp_path / "here") == ["processed"], "nothing was downloaded"


def test_classes_with_names_and_transforms(tmp_path):
    for name, size in (("Cora", 4), ("PubMed", 8)):
        made(tmp_path / name, graph(size))
        ds = gm.datasets.pyg(Planetoid, tmp_path, name=name, progress=False)
        assert (ds.num_nodes, ds.path) == (size, str(tmp_path / f"{name}-graphmount"))
    both = {"name": "Cora", "transform": transforms.ToUndirected()}
    with pytest.raises(FileExistsError, match="not compiled of the files of Planetoid"):
        gm.datasets.pyg(Planetoid, tmp_path, **both)
    out = tmp_path / "both-ways"
    ds = gm.datasets.pyg(Planetoid, tmp_path, out=out, progress=False, **both)
    assert ds.num_edges == 8
    assert gm.datasets.pyg(Planetoid, tmp_path, out=out, **both).num_edges == 8
    with pytest.raises(TypeError, match="cannot be recognised when this is called again"):
        gm.datasets.pyg(Planetoid, tmp_path, name="Cora", transform=lambda data: data)
    halves = gm.datasets.pyg(
        Planetoid, tmp_path, name="Cora", out=tmp_path / "h", dtype="float16", progress=False
    )
    assert str(halves.features["x"].dtype) == "float16"


def test_a_root_by_other_names(tmp_path, monkeypatch):
    made(tmp_path / "a", graph(4))
    inode = os.stat(gm.datasets.pyg(Reddit, tmp_path / "a", progress=False).path).st_ino
    monkeypatch.chdir(tmp_path)
    for root in ("a", "./a", "../" + tmp_path.name + "/a/"):
        assert os.stat(gm.datasets.pyg(Reddit, root).path).st_ino == inode
    os.rename(tmp_path / "a", tmp_path / "b")
    os.rename(tmp_path / "a-graphmount", tmp_path / "b-graphmount")
    assert os.stat(gm.datasets.pyg(Reddit, "b").path).st_ino == inode


def test_what_is_not_there_is_not_downloaded(tmp_path):
    message = r"PyG downloads and makes it: torch_geometric\.datasets\.Planetoid\('.*', name='Cora'"
    with pytest.raises(FileNotFoundError, match=message) as e:
        gm.datasets.pyg(Planetoid, tmp_path, name="Cora")
    assert e.value.filename == str(tmp_path / "Cora/processed/data.pt")
    with pytest.raises(FileNotFoundError, match=r"datasets\.Reddit\("):
        gm.datasets.pyg(Reddit, tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_was_made_anew(tmp_path):
    made(tmp_path / "a", graph(4))
    gm.datasets.pyg(Reddit, tmp_path / "a", progress=False)
    changed = graph(4)
    changed.x[2, 1] = 17
    InMemoryDataset.save([changed], tmp_path / "a/processed/data.pt")  # as many bytes
    with pytest.raises(FileExistsError, match="not compiled of the files of Reddit that are there"):
        gm.datasets.pyg(Reddit, tmp_path / "a")
    check(gm.datasets.pyg(Reddit, tmp_path / "a", overwrite=True, progress=False), changed)


def test_several_node_types(tmp_path):
    hetero = HeteroData()
    hetero["a"].x = torch.ones(2, 2)
    hetero["b"].num_nodes = 3
    hetero["a", "to", "b"].edge_index = torch.tensor([[0, 1], [2, 0]])
    path = tmp_path / "hetero/processed"
    path.mkdir(parents=True)
    InMemoryDataset.save([hetero], path / "data.pt")
    ds = gm.datasets.pyg(Reddit, tmp_path / "hetero", reverse=True, progress=False)
    assert ds.edge_types == (("a", "to", "b"), ("b", "rev_to", "a"))
    assert gm.datasets.pyg(Reddit, tmp_path / "hetero", reverse=True).path == ds.path
    with pytest.raises(FileExistsError, match="reverse=True"):
        gm.datasets.pyg(Reddit, tmp_path / "hetero")


def test_what_is_no_dataset_with_one_graph(tmp_path):
    made(tmp_path / "two", graph(), graph())
    with pytest.raises(
        gm.errors.SourceError, match="has 2 graphs, and a dataset of graphmount has"
    ):
        gm.datasets.pyg(Reddit, tmp_path / "two")
    made(tmp_path / "one", graph())
    for wrong in (Data, "Reddit", None):
        with pytest.raises(TypeError, match=r"must be a class of torch_geometric\.datasets"):
            gm.datasets.pyg(wrong, tmp_path)
    with pytest.raises(TypeError, match="pass the class and its root"):
        gm.datasets.pyg(InMemoryDataset(), tmp_path)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nickname'"):
        gm.datasets.pyg(Planetoid, tmp_path, nickname="Cora")
    assert not any(name.endswith("graphmount") for name in os.listdir(tmp_path))
