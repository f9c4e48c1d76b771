"""Datasets with several node types, by one call, over folders as their libraries make them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from known_folders import COUNTS, IGB, as_igb, as_mag240m, as_ogbn_mag

import graphmount as gm


def test_ogbn_mag(tmp_path, capsys):
    folder = as_ogbn_mag(tmp_path / "ogbn_mag")
    ds = gm.datasets.ogbn_mag(tmp_path)
    assert isinstance(ds, gm.TypedDataset)
    assert ds.path == str(tmp_path / "ogbn_mag-graphmount")
    assert len(ds.edge_types) == 8
    assert "compiled ogbn-mag into" in capsys.readouterr().err
    again = gm.datasets.ogbn_mag(folder)
    assert again.path == ds.path
    assert capsys.readouterr().err == ""
    with pytest.raises(FileExistsError, match="reverse=True"):
        gm.datasets.ogbn_mag(tmp_path, reverse=False)
    fewer = gm.datasets.ogbn_mag(tmp_path, reverse=False, overwrite=True, progress=False)
    assert len(fewer.edge_types) == 4
    other = gm.datasets.ogbn_mag(tmp_path, out=tmp_path / "out", order="given", dtype="float16")
    assert str(other.nodes["paper"].features["x"].dtype) == "float16"


def test_other_files_are_another_dataset(tmp_path):
    folder = as_ogbn_mag(tmp_path / "ogbn_mag")
    gm.datasets.ogbn_mag(tmp_path)
    shutil.copy(
        folder / "raw/relations/author___writes___paper/edge.csv.gz",
        folder / "raw/relations/paper___cites___paper/edge.csv.gz",
    )
    with pytest.raises(FileExistsError, match="not compiled of the files of ogbn-mag"):
        gm.datasets.ogbn_mag(tmp_path)


def test_mag240m(tmp_path):
    as_mag240m(tmp_path / "mag240m_kddcup2021")
    ds = gm.datasets.mag240m(tmp_path)
    papers = ds.nodes["paper"]
    labels = np.asarray(papers.labels)[papers.to_internal(np.arange(5))]
    assert labels.tolist() == [0, 1, -1, 1, -1]
    assert labels.dtype == np.int64
    assert papers.timestamps is not None
    assert gm.datasets.mag240m(tmp_path).path == ds.path


def test_igb(tmp_path):
    as_igb(tmp_path / "tiny", COUNTS)
    ds = gm.datasets.igb(tmp_path, "tiny", dtype="float16")
    assert isinstance(ds, gm.TypedDataset)
    assert ds.nodes["paper"].labels.dtype == np.int64
    assert gm.datasets.igb(tmp_path / "tiny", dtype="float16").path == ds.path
    as_igb(tmp_path / "small", {"paper": 4})
    for relation in list(IGB)[1:]:
        shutil.rmtree(tmp_path / "small" / "processed" / "__".join(relation))
    one = gm.datasets.igb(tmp_path, "small")
    assert type(one) is gm.Dataset
    assert gm.datasets.igb(tmp_path, "small").path == one.path
    with pytest.raises(ValueError, match="size="):
        gm.datasets.igb(tmp_path, "huge")
    with pytest.raises(FileNotFoundError, match="download_dataset"):
        gm.datasets.igb(tmp_path, "medium")


def test_relbench(tmp_path):
    pytest.importorskip("yaml")
    relbench = pytest.importorskip("relbench_folders")
    folder = relbench.as_relbench(tmp_path / "rel-small")
    ds = gm.datasets.relbench(folder)
    assert ds.path == str(tmp_path / "rel-small-graphmount")
    assert ("users", "rev_f2p_OwnerUserId", "posts") in ds.edge_types
    assert gm.datasets.relbench(f"{folder}/").path == ds.path
    shutil.rmtree(folder / "db")
    with pytest.raises(FileNotFoundError, match=r"rel-small/db"):
        gm.datasets.relbench(folder)


@pytest.mark.parametrize("name", ["ogbn_mag", "mag240m", "igb", "relbench"])
def test_unknown_options(name, tmp_path):
    makers = {"ogbn_mag": ("ogbn_mag", as_ogbn_mag), "mag240m": ("mag240m_kddcup2021", as_mag240m)}
    folder, make = makers.get(name, ("tiny", lambda path: as_igb(path, COUNTS)))
    if name == "relbench":
        pytest.importorskip("yaml")
        relbench = pytest.importorskip("relbench_folders")
        folder, make = "rel", relbench.as_relbench
    made = make(tmp_path / folder)
    with pytest.raises(TypeError, match="directed= is no option of this function"):
        getattr(gm.datasets, name)(made, directed=False)
