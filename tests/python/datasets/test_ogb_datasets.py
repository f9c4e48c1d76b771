"""OGB's datasets over folders that are faked as its package makes them."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import shutil

import numpy as np
import pytest

import graphmount as gm

FUNCTIONS = {
    "ogbn_arxiv": ("time", True),
    "ogbn_products": ("sales_ranking", False),
    "ogbn_proteins": ("species", False),
    "ogbl_collab": ("time", False),
    "ogbl_ppa": ("throughput", False),
    "ogbl_citation2": ("time", True),
    "ogbl_ddi": ("target", False),
}
WITHOUT_FEATURES = ("ogbn_proteins", "ogbl_ddi")
NAMES = ("train", "valid", "test")


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write(text)


def fake(root, name):
    """The folder of a dataset: a path of five nodes, with rows and labels that know their node."""
    folder = root / name
    scheme, _ = FUNCTIONS[name]
    write_gz(folder / "raw/edge.csv.gz", "0,1\n1,2\n2,3\n3,4\n")
    write_gz(folder / "raw/num-node-list.csv.gz", "5\n")
    if name not in WITHOUT_FEATURES:
        write_gz(folder / "raw/node-feat.csv.gz", "".join(f"{i}.5,{i}\n" for i in range(5)))
    if name.startswith("ogbn"):
        end = "," + ",".join("1" * 3) if name == "ogbn_proteins" else ""
        write_gz(folder / "raw/node-label.csv.gz", "".join(f"{i}{end}\n" for i in range(5)))
        for split, ids in zip(NAMES, ("4\n0\n", "1\n", "2\n3\n"), strict=True):
            write_gz(folder / "split" / scheme / f"{split}.csv.gz", ids)
    else:
        for split in NAMES:
            (folder / "split" / scheme).mkdir(parents=True, exist_ok=True)
            (folder / "split" / scheme / f"{split}.pt").write_bytes(b"of torch")
    return folder


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_there_is_compiled_and_then_opened(name, tmp_path, capsys):
    fake(tmp_path, name)
    open_it = getattr(gm.datasets, name)
    ds = open_it(tmp_path)
    _, directed = FUNCTIONS[name]
    assert ds.path == str(tmp_path / f"{name}-graphmount")
    assert ds.num_nodes == 5
    assert ds.num_edges == (4 if directed else 8)
    nodes = ds.to_internal(np.arange(5))
    sources = ds.to_external(ds.graph.neighbors(nodes[1], direction="in"))
    assert sorted(sources) == ([0] if directed else [0, 2])
    if name in WITHOUT_FEATURES:
        assert dict(ds.features) == {}
    else:
        assert ds.features["x"].numpy()[nodes].tolist() == [[i + 0.5, i] for i in range(5)]
        assert str(ds.features["x"].dtype) == "float32"
    if name.startswith("ogbn"):
        labels = ds.labels[nodes]
        assert (labels if labels.ndim == 1 else labels[:, 0]).tolist() == list(range(5))
        assert {split: ds.to_external(ids).tolist() for split, ids in ds.splits.items()} == {
            "train": [4, 0],
            "valid": [1],
            "test": [2, 3],
        }
    else:
        assert (ds.labels, dict(ds.splits)) == (None, {})
    assert "graphmount: compiled ogb" in capsys.readouterr().err
    before = os.stat(ds.path).st_ino
    assert open_it(str(tmp_path)).num_nodes == 5
    assert open_it(tmp_path / name).path == ds.path  # the folder itself
    assert os.stat(ds.path).st_ino == before
    assert capsys.readouterr().err == ""
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}-graphmount"]


def fake_papers(root):
    folder = root / "ogbn_papers100M"
    (folder / "raw").mkdir(parents=True)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.savez_compressed(
        folder / "raw/data.npz",
        edge_index=np.array([[0, 1, 2], [1, 2, 3]]),
        node_feat=x,
        num_nodes_list=np.array([4]),
    )
    labels = np.array([[0], [np.nan], [2], [np.nan]], np.float32)
    np.savez_compressed(folder / "raw/node-label.npz", node_label=labels)
    for split in NAMES:
        write_gz(folder / "split/time" / f"{split}.csv.gz", "1\n")
    return x


def test_papers100m(tmp_path):
    x = fake_papers(tmp_path)
    ds = gm.datasets.ogbn_papers100m(tmp_path, dtype="float16", progress=False)
    nodes = ds.to_internal(np.arange(4))
    assert (ds.labels.dtype, ds.labels[nodes].tolist()) == (np.int64, [0, -1, 2, -1])
    assert (ds.features["x"].numpy()[nodes] == x).all()
    assert str(ds.features["x"].dtype) == "float16"


def test_folders_of_older_versions_of_ogb(tmp_path):
    fake(tmp_path, "ogbn_arxiv").rename(tmp_path / "ogbn_arxiv_pyg")
    ds = gm.datasets.ogbn_arxiv(tmp_path)
    assert ds.path == str(tmp_path / "ogbn_arxiv_pyg-graphmount")


def test_out_and_order(tmp_path):
    fake(tmp_path, "ogbn_arxiv")
    out = tmp_path / "deep" / "er"
    ds = gm.datasets.ogbn_arxiv(tmp_path, out=out, order="given", memory="64MiB", progress=False)
    assert (ds.path, ds.description["order"]) == (str(out), "given")
    assert ds.features["x"].numpy()[:, 1].tolist() == list(range(5))
    assert os.listdir(out.parent) == ["er"]


def test_folders_that_are_not_there_or_incomplete(tmp_path):
    call = r"ogb\.nodeproppred\.NodePropPredDataset\('ogbn-arxiv', root='.*'\)"
    with pytest.raises(FileNotFoundError, match=f"not there; OGB's package downloads it: {call}"):
        gm.datasets.ogbn_arxiv(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"linkproppred\.LinkPropPredDataset\('ogbl-ddi'"):
        gm.datasets.ogbl_ddi(tmp_path / "nothing")
    folder = fake(tmp_path, "ogbn_arxiv")
    for path in sorted(folder.rglob("*.gz")):
        moved = path.rename(tmp_path / "away")
        with pytest.raises(FileNotFoundError, match=f"incomplete; remove it, .* anew: {call}") as e:
            gm.datasets.ogbn_arxiv(tmp_path)
        assert e.value.filename == str(path)
        moved.rename(path)
    assert not (tmp_path / "ogbn_arxiv-graphmount").exists()
    (folder / "raw/edge.csv.gz").write_bytes(b"\x1f\x8b damaged")
    with pytest.raises(gm.errors.SourceError, match=r"edge\.csv\.gz"):
        gm.datasets.ogbn_arxiv(tmp_path, progress=False)
    assert sorted(os.listdir(tmp_path)) == ["ogbn_arxiv"]


def test_wrong_arguments(tmp_path):
    with pytest.raises(TypeError, match="speed= is no option of this function; its options are"):
        gm.datasets.ogbn_arxiv(tmp_path, speed="1GiB")
    with pytest.raises(TypeError):
        gm.datasets.ogbn_arxiv(5)
    fake(tmp_path, "ogbn_arxiv")
    with pytest.raises(ValueError, match="overwrite"):
        gm.datasets.ogbn_arxiv(tmp_path, overwrite="yes")
    with pytest.raises((TypeError, ValueError), match="dtype"):
        gm.datasets.ogbn_arxiv(tmp_path, dtype="float17")


def test_what_was_compiled_of_something_else_is_refused(tmp_path):
    folder = fake(tmp_path, "ogbn_arxiv")
    gm.datasets.ogbn_arxiv(tmp_path, progress=False)
    with pytest.raises(
        FileExistsError,
        match=r"was compiled with dtype=None, order='hot', and not compiled with dtype='float16'",
    ):
        gm.datasets.ogbn_arxiv(tmp_path, dtype="float16")
    # As many bytes before compression and after it.
    write_gz(folder / "raw/node-label.csv.gz", "".join(f"{i}\n" for i in (0, 1, 2, 4, 3)))
    with pytest.raises(
        FileExistsError, match="not compiled of the files of ogbn-arxiv that are th"
    ):
        gm.datasets.ogbn_arxiv(tmp_path)
    ds = gm.datasets.ogbn_arxiv(tmp_path, overwrite=True, dtype=np.float16, progress=False)
    assert ds.labels[ds.to_internal([3, 4])].tolist() == [4, 3]
    inode = os.stat(ds.path).st_ino
    assert str(gm.datasets.ogbn_arxiv(tmp_path, overwrite=True, dtype="float16").path) == ds.path
    assert os.stat(ds.path).st_ino == inode, "what fits is not compiled anew"


def test_copies_of_a_folder_are_the_same(tmp_path):
    fake(tmp_path / "one", "ogbn_arxiv")
    ds = gm.datasets.ogbn_arxiv(tmp_path / "one", progress=False)
    shutil.copytree(tmp_path / "one", tmp_path / "two", copy_function=shutil.copy)  # at new times
    inode = os.stat(tmp_path / "two/ogbn_arxiv-graphmount").st_ino
    again = gm.datasets.ogbn_arxiv(tmp_path / "two")
    assert again.num_edges == ds.num_edges
    assert os.stat(again.path).st_ino == inode


def test_other_things_at_its_place_are_left_alone(tmp_path):
    fake(tmp_path, "ogbn_arxiv")
    out = tmp_path / "mine"
    out.mkdir()
    (out / "letter.txt").write_text("dear")
    for overwrite in (False, True):
        with pytest.raises(OSError, match="mine"):
            gm.datasets.ogbn_arxiv(tmp_path, out=out, overwrite=overwrite)
    assert (out / "letter.txt").read_text() == "dear"
    gm.compile_dataset(tmp_path / "other", edges=([0], [1]))
    with pytest.raises(FileExistsError, match="not compiled of the files of ogbn-arxiv"):
        gm.datasets.ogbn_arxiv(tmp_path, out=tmp_path / "other")


def test_a_dataset_that_has_grown_is_still_the_same(tmp_path):
    fake(tmp_path, "ogbn_arxiv")
    ds = gm.datasets.ogbn_arxiv(tmp_path, progress=False)
    ds.add_features("more", np.arange(5))
    assert sorted(gm.datasets.ogbn_arxiv(tmp_path).features) == ["more", "x"]


def _open(root, queue):
    ds = gm.datasets.ogbn_arxiv(root, progress=False)
    queue.put((ds.num_nodes, os.stat(ds.path).st_ino))


def test_processes_that_start_together(tmp_path):
    fake(tmp_path, "ogbn_arxiv")
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=_open, args=(tmp_path, queue)) for _ in range(3)]
    for process in processes:
        process.start()
    found = {queue.get(timeout=120) for _ in processes}
    for process in processes:
        process.join()
    assert len(found) == 1
    assert sorted(os.listdir(tmp_path)) == ["ogbn_arxiv", "ogbn_arxiv-graphmount"]
