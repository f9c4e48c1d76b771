"""What is said to those who open something else than they think, or ask for what is not there."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gm.compile_dataset(
        "web",
        edges=([3, 3, 1], [0, 1, 2]),
        features={"x": np.ones((4, 2))},
        edge_features={"w": np.ones((3, 1))},
        splits={"train": [0, 1], "valid": [2]},
    )
    return tmp_path


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gm.Dataset("nosuch"), FileNotFoundError, "no such folder; compile_dataset and"),
        (lambda: gm.Dataset("."), FileNotFoundError, "no dataset.json, so this folder is no da"),
        (lambda: gm.Dataset("web/graph.gl"), NotADirectoryError, "open a .gl file with Graph"),
        (
            lambda: gm.Graph("web"),
            IsADirectoryError,
            r"with Dataset.*Dataset\(path\).graph",
        ),
        (lambda: gm.Graph("."), IsADirectoryError, "this is a folder; give the path of a .gl file"),
        (lambda: gm.FeatureStore("web"), IsADirectoryError, r"Dataset\(path\).features\[name\]"),
        (lambda: gm.FeatureStore("."), IsADirectoryError, "give the path of a .gd file"),
        (lambda: gm.FeatureStore("web/graph.gl"), gm.errors.FormatError, "open it with Graph"),
        (lambda: gm.Graph("web/features/x.gd"), gm.errors.FormatError, "open it with FeatureStore"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_opening_something_else(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    if isinstance(caught.value, OSError) and not isinstance(caught.value, gm.errors.FormatError):
        assert caught.value.errno is not None
        assert caught.value.filename is not None


def test_names_that_are_not_there(folder):
    ds = gm.Dataset(folder / "web")
    with pytest.raises(KeyError, match="there is no split 'val'; there are 'train', 'valid'"):
        ds.splits["val"]
    with pytest.raises(KeyError, match="there is no table of features 'y'; there are 'x'"):
        ds.features["y"]
    with pytest.raises(KeyError, match="there is no table of edges 'x'; there are 'w'"):
        ds.edge_features["x"]
    with pytest.raises(TypeError):
        ds.splits["val"] = [1]
    assert list(ds.splits) == ["train", "valid"]


def test_one_text_is_no_list(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=["bash", "zsh"])
    graph = gm.Graph(tmp_path / "g.gl")
    with pytest.raises(TypeError, match=r"keys must be a list, not one text; write \['bash'\]"):
        graph.to_internal("bash")
    assert graph.to_internal(["bash"]).tolist() == [0]
    gm.compile_dataset(tmp_path / "d", edges=([0], [1]))
    with pytest.raises(TypeError, match=r"write \['bash'\] for one"):
        gm.Dataset(tmp_path / "d").to_internal("bash")
    with pytest.raises(ValueError, match=r"one-dimensional.*write \[3\] for one"):
        gm.Dataset(tmp_path / "d").to_internal(3)


def test_a_number_alone_does_not_say_how_many_hops(folder):
    ds = gm.Dataset(folder / "web")
    for number in (5, np.int64(5)):
        with pytest.raises(TypeError, match=r"num_neighbors has a number for each hop.*\[.*5.*\]"):
            gm.NeighborLoader(ds, number)
        with pytest.raises(TypeError, match="fanouts has a number for each hop"):
            ds.graph.sample_neighbors(ds.splits["train"], number)


@pytest.mark.usefixtures("folder")
def test_what_a_newcomer_gives_to_a_loader():
    dataset = gm.Dataset("web")
    by_path = gm.NeighborLoader("web", [1], input_nodes="train")
    assert len(by_path) == len(gm.NeighborLoader(dataset, [1], input_nodes="train"))
    with pytest.raises(ValueError, match="a graph has no splits; pass a Dataset"):
        gm.NeighborLoader(dataset.graph, [1], input_nodes="train")
    with pytest.raises(gm.errors.IdError, match=r"integers and masks can go by ids of the source"):
        gm.NeighborLoader(dataset, [1], input_nodes=np.array([True, False, True, False]))


@pytest.mark.usefixtures("folder")
def test_a_mask_of_numbers():
    """It would be nodes 0 and 1, again and again."""
    gm.compile_dataset("many", edges=(np.arange(299), np.arange(1, 300)), order="given")
    many = gm.Dataset("many")
    mask = np.arange(300) % 3 == 0
    for numbers in (mask.astype(np.uint8), mask.astype(np.int64)):
        with pytest.raises(ValueError, match="looks like a mask; pass"):
            gm.NeighborLoader(many, [1], input_nodes=numbers)
    assert len(gm.NeighborLoader(many, [1], input_nodes=mask)) == 100
    assert len(gm.NeighborLoader(many, [1], input_nodes=np.arange(300)[::-1])) == 300


@pytest.mark.usefixtures("folder")
def test_classes_and_splits_are_shown():
    gm.compile_dataset("few", edges=([0], [1]), labels=["a", "b"], order="given")
    assert repr(gm.Dataset("few")).endswith("features [], labels of 2 classes>")
    assert repr(gm.Dataset("web")).endswith("features ['x'], splits ['train', 'valid']>")


@pytest.mark.usefixtures("folder")
def test_keys_of_names_where_ids_are_numbers():
    table = gm.Table(source=np.ones((2, 1)), key=["ann", "bob"])
    with pytest.raises(ValueError, match=r"keys .* are text, but .* numbers; pass ids='map'"):
        gm.compile_dataset("new", edges=([0], [1]), features={"x": table})


def test_a_header_of_a_dataset(folder):
    (folder / "needs.csv").write_text("package,needs\nbash,libc\nlibc,bash\n")
    with pytest.warns(UserWarning, match=r"may be a header.*EdgeTable\(source=\.\.\., header=True"):
        gm.compile_dataset("a", edges="needs.csv", ids="map")
    gm.compile_dataset("b", edges=gm.EdgeTable(source="needs.csv", header=True), ids="map")
    assert gm.Dataset("b").num_nodes == 2


@pytest.mark.usefixtures("folder")
def test_no_hops():
    dataset = gm.Dataset("web")
    with pytest.warns(UserWarning, match=r"num_neighbors=\[\] has no hops.*seeds alone") as caught:
        loader = gm.NeighborLoader(dataset, [], batch_size=4)
    assert [warning.filename for warning in caught] == [__file__]
    (batch,) = loader
    assert (batch.num_nodes, batch.num_edges) == (4, 0)
    assert batch.x.shape == (4, 2)
