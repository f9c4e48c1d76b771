"""Folders of known datasets with several node types, as their libraries write them, in small."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from known_folders import (
    AT,
    CITES,
    COUNTS,
    IGB,
    MAG,
    WRITES,
    add_torch_files,
    as_igb,
    as_mag240m,
    as_ogbn_mag,
    edges_of,
    save,
    write_gz,
)

import graphmount as gm
from graphmount._sources.layouts.igb import _HEADERLESS_SIZES
from graphmount._sources.layouts.typed import find_typed_layout
from graphmount.cli import main
from graphmount.errors import SourceError


def run(*arguments):
    return main(["compile", "known", *map(str, arguments), "--no-progress"])


def by_source(nodes, values):
    return np.asarray(values)[nodes.to_internal(np.arange(nodes.num_nodes))].tolist()


class TestMag240m:
    def test_all_types(self, tmp_path, capsys):
        source = as_mag240m(tmp_path / "source")
        add_torch_files(source)
        options = ["--label-dtype", "int64", "--label-nan", "-1"]
        assert run(source, tmp_path / "out", *options) == 0
        captured = capsys.readouterr()
        assert "15 nodes, 16 edges, 3 node types, features and labels and times" in captured.out
        assert "The years of papers are their times." in captured.err
        ds = gm.Dataset(tmp_path / "out")
        assert {name: one.num_nodes for name, one in ds.nodes.items()} == {
            "paper": 5,
            "author": 7,
            "institution": 3,
        }
        papers = ds.nodes["paper"]
        assert by_source(papers, papers.labels) == [0, 1, -1, 1, -1]
        assert by_source(papers, papers.timestamps) == [2018, 2019, 2020, 2021, 2017]
        assert by_source(papers, papers.features["x"].numpy())[4] == [8, 9]
        assert str(papers.features["x"].dtype) == "float16"
        assert papers.to_external(papers.splits["test-dev"]).tolist() == [4]
        assert edges_of(ds, WRITES) == [(0, 0), (2, 0), (2, 4)]
        assert edges_of(ds, AT) == [(0, 1), (1, 0)]
        assert edges_of(ds, ("paper", "rev_writes", "author")) == [(0, 0), (0, 2), (4, 2)]
        assert len(ds.edge_types) == 6
        assert gm.verify(tmp_path / "out").ok

    def test_without_torch(self, tmp_path, monkeypatch):
        source = as_mag240m(tmp_path)
        add_torch_files(source)
        monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
        layout = find_typed_layout(source)
        assert any("torch, which is not installed" in note for note in layout.notes)
        assert layout.nodes["author"].num_nodes is None

    def test_a_file_that_is_none(self, tmp_path):
        source = as_mag240m(tmp_path)
        (source / "meta.pt").write_bytes(b"no file of torch")
        pytest.importorskip("torch")
        assert any("meta.pt could not be read" in one for one in find_typed_layout(source).notes)

    @pytest.mark.parametrize(("flag", "count"), [("none", 3), ("merge", 5), ("all", 6)])
    def test_reverse(self, tmp_path, flag, count):
        source = as_mag240m(tmp_path / "source")
        assert run(source, tmp_path / "out", "--reverse", flag) == 0
        ds = gm.Dataset(tmp_path / "out")
        assert len(ds.edge_types) == count
        assert ds.nodes["author"].num_nodes == 3  # as the edges say
        both = [(0, 3), (1, 2), (1, 3), (2, 1), (3, 0), (3, 1)]
        expected = both if flag == "merge" else [(1, 2), (3, 0), (3, 1)]
        assert edges_of(ds, CITES) == expected

    def test_papers_alone(self, tmp_path, capsys):
        source = as_mag240m(tmp_path / "source")
        assert run(source, tmp_path / "out", "--one-type") == 0
        assert type(gm.Dataset(tmp_path / "out")) is gm.Dataset
        assert run(source, tmp_path / "more", "--one-type", "--reverse", "all") == 2
        assert "leave --reverse out" in capsys.readouterr().err

    def test_a_relation_that_is_missing(self, tmp_path, capsys):
        source = as_mag240m(tmp_path / "source")
        file = source / "processed" / "author___writes___paper" / "edge_index.npy"
        file.unlink()
        assert run(source, tmp_path / "out") == 2
        assert "author___writes___paper/edge_index.npy is missing" in capsys.readouterr().err
        file.parent.rmdir()
        with pytest.raises(SourceError, match=r"writes.* is missing: a relation"):
            find_typed_layout(source)
        assert not (tmp_path / "out").exists()


class TestIgb:
    def check(self, out, counts):
        ds = gm.Dataset(out)
        assert {name: one.num_nodes for name, one in ds.nodes.items()} == counts
        for relation, edges in IGB.items():
            assert edges_of(ds, relation) == sorted(map(tuple, edges))
        for nodes in ds.nodes.values():
            first = nodes.features["x"].numpy()[:, 0]
            assert by_source(nodes, first) == list(range(nodes.num_nodes))
        papers = ds.nodes["paper"]
        assert by_source(papers, papers.labels) == list(range(papers.num_nodes))
        assert (papers.features["x"].shape[1], len(ds.edge_types)) == (1024, 8)

    def test_small_sizes(self, tmp_path, capsys):
        as_igb(tmp_path / "tiny", COUNTS)
        assert run(tmp_path / "tiny", tmp_path / "out") == 0
        self.check(tmp_path / "out", COUNTS)
        assert "those of 2,983 are in node_label_2K.npy" in capsys.readouterr().err

    def test_large_sizes_have_no_header(self, tmp_path, monkeypatch, capsys):
        for name in ("paper", "author"):
            monkeypatch.setitem(_HEADERLESS_SIZES, name, {"large": COUNTS[name], "full": 99})
        as_igb(tmp_path / "large", COUNTS, raw=("paper", "author"))
        assert run(tmp_path / "large", tmp_path / "out", "--label-dtype", "int64") == 0
        self.check(tmp_path / "out", COUNTS)
        assert "have no header" in capsys.readouterr().err

    def test_the_sizes_of_igb(self):
        assert _HEADERLESS_SIZES["paper"] == {"large": 100_000_000, "full": 269_346_174}
        assert _HEADERLESS_SIZES["author"] == {"large": 116_959_896, "full": 277_220_883}

    def test_raw_files_that_are_cut_or_should_have_a_header(self, tmp_path):
        as_igb(tmp_path / "a", COUNTS, raw=("author",))
        with pytest.raises(SourceError, match=r"has no header, .* is it complete"):
            find_typed_layout(tmp_path / "a")
        as_igb(tmp_path / "b", COUNTS, raw=("fos",))
        with pytest.raises(SourceError, match="which only files of papers and authors lack"):
            find_typed_layout(tmp_path / "b")

    def test_journals_and_conferences(self, tmp_path):
        as_igb(tmp_path / "full", COUNTS | {"journal": 2})
        save(
            tmp_path / "full/processed/paper__published__journal/edge_index.npy",
            [[0, 1], [1, 0], [2, 0]],
        )
        assert run(tmp_path / "full", tmp_path / "out", "--reverse", "none") == 0
        ds = gm.Dataset(tmp_path / "out")
        published = ("paper", "published", "journal")
        assert edges_of(ds, published) == [(0, 1), (1, 0), (2, 0)]

    def test_homogeneous(self, tmp_path):
        as_igb(tmp_path / "tiny", {"paper": 4})
        for relation in list(IGB)[1:]:
            folder = tmp_path / "tiny" / "processed" / "__".join(relation)
            (folder / "edge_index.npy").unlink()
            folder.rmdir()
        assert find_typed_layout(tmp_path / "tiny") is None
        assert run(tmp_path / "tiny", tmp_path / "out") == 0
        assert gm.Dataset(tmp_path / "out").num_nodes == 4

    def test_a_relation_that_is_missing(self, tmp_path):
        as_igb(tmp_path / "tiny", COUNTS)
        (tmp_path / "tiny/processed/paper__topic__fos/edge_index.npy").unlink()
        with pytest.raises(SourceError, match=r"paper__topic__fos.* is missing"):
            find_typed_layout(tmp_path / "tiny")


class TestOgbnMag:
    def test_all_types(self, tmp_path, capsys):
        source = as_ogbn_mag(tmp_path / "ogbn_mag")
        assert run(source, tmp_path / "out", "--dtype", "float16") == 0
        said = capsys.readouterr().out
        assert "11 nodes, 20 edges, 4 node types, features and labels and times and splits" in said
        ds = gm.Dataset(tmp_path / "out")
        assert ds.edge_types[:4] == tuple(MAG)
        for relation, edges in MAG.items():
            assert edges_of(ds, relation) == sorted(edges)
        papers = ds.nodes["paper"]
        assert by_source(papers, papers.features["x"].numpy()) == [[i + 0.5, -i] for i in range(4)]
        assert str(papers.features["x"].dtype) == "float16"
        assert by_source(papers, papers.labels.reshape(-1)) == [7, 8, 7, 9]
        assert by_source(papers, papers.timestamps) == [2015, 2016, 2017, 2018]
        assert papers.to_external(papers.splits["train"]).tolist() == [0, 1]
        assert ds.nodes["field_of_study"].num_nodes == 3

    @pytest.mark.parametrize(
        ("file", "text", "message"),
        [
            ("num-node-dict.csv.gz", "author,paper\n2\n", "line of names and one of numbers"),
            ("num-node-dict.csv.gz", "author\n2\n3\n", "of several graphs"),
            ("num-node-dict.csv.gz", "author,paper\n2,many\n", "numbers of nodes, but 'many'"),
            ("num-node-dict.csv.gz", "../x,paper\n2,3\n", "'../x' cannot be the name"),
            ("num-node-dict.csv.gz", "..,paper\n2,3\n", "'..' cannot be the name"),
            ("triplet-type-list.csv.gz", "author,writes\n", "does not hold relations"),
            ("triplet-type-list.csv.gz", "author,writes,venue\n", "node type 'venue', which num"),
            ("triplet-type-list.csv.gz", "author,../..,paper\n", "cannot be the name"),
            (
                "triplet-type-list.csv.gz",
                "author,reads,paper\n",
                "author___reads___paper.* missing",
            ),
            ("triplet-type-list.csv.gz", "", "names no relation"),
        ],
    )
    def test_files_that_are_wrong(self, tmp_path, file, text, message):
        source = as_ogbn_mag(tmp_path)
        write_gz(source / "raw" / file, text)
        with pytest.raises(SourceError, match=message):
            find_typed_layout(source)

    def test_a_file_that_is_cut(self, tmp_path):
        source = as_ogbn_mag(tmp_path)
        file = source / "raw" / "num-node-dict.csv.gz"
        file.write_bytes(file.read_bytes()[:-9])
        with pytest.raises(SourceError, match="cannot be unpacked"):
            find_typed_layout(source)

    def test_ends_that_disagree_with_the_counts(self, tmp_path, capsys):
        source = as_ogbn_mag(tmp_path / "ogbn_mag")
        own = source / "raw" / "relations" / "author___writes___paper"
        write_gz(own / "edge.csv.gz", "0,0\n2,1\n")
        assert run(source, tmp_path / "out") == 2
        said = capsys.readouterr().err
        assert "relation ('author', 'writes', 'paper')" in said
        assert "source id 2 is not below" in said
        assert not (tmp_path / "out").exists()


def test_no_known_folder(tmp_path, capsys):
    (tmp_path / "stuff").mkdir()
    assert run(tmp_path / "stuff", tmp_path / "out") == 2
    assert "manifest.yaml with db/ (RelBench)" in capsys.readouterr().err
    assert run(tmp_path / "nowhere", tmp_path / "out") == 2
    assert find_typed_layout(tmp_path / "stuff") is None
    with pytest.raises(NotADirectoryError):
        find_typed_layout(Path(sys.executable))
