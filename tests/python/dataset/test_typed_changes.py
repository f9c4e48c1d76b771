"""Datasets of many node types that grow: whose table it is, and that nobody sees half of it."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount._compile.changes import change, operations
from graphmount._compile.output.atomic_folder import filled_beside
from graphmount.cli import main

WRITES, REV = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
CITES = ("paper", "cites", "paper")
NUM = {"paper": 30, "author": 30}  # equal, so that one may be taken for the other
ROWS = np.arange(30, dtype=np.float32)[:, None]
SOME = np.random.default_rng(3)
WRITTEN, CITED = SOME.integers(0, 30, (2, 90)), SOME.integers(0, 30, (2, 70))


def make(path, **options):
    given = {
        "nodes": {
            "paper": gm.Nodes(
                features={"x": ROWS},
                labels=np.arange(30) % 4,
                splits={"train": [1, 2]},
                timestamps=np.arange(30) + 2000,
            ),
            "author": gm.Nodes(num_nodes=30),
        },
        "edges": {WRITES: tuple(WRITTEN), CITES: tuple(CITED)},
        "reverse": [WRITES],
        "source_rows": True,
    }
    gm.compile_dataset(path, **(given | options))
    return gm.Dataset(path)


@pytest.fixture
def ds(tmp_path):
    return make(tmp_path / "data")


def by_source(nodes, name):
    return nodes.features[name].gather(nodes.to_internal(np.arange(30)))


def files_in(path):
    return {file.relative_to(path).as_posix() for file in Path(path).rglob("*") if file.is_file()}


def nothing_beside(ds):
    return os.listdir(os.path.dirname(ds.path)) == ["data"]


def edges_with(ds, relation, table):
    """The value of each edge by its ends in the source."""
    graph = ds.edges[relation].graph
    lists = graph.neighbor_lists("in")
    owners = np.repeat(np.arange(graph.num_destinations), np.diff(lists.indptr))
    source, destination = ds.nodes[relation[0]], ds.nodes[relation[2]]
    values = ds.edges[relation].features[table].numpy().reshape(-1)
    src = source.to_external(source.as_internal(np.asarray(lists.indices, np.int64)))
    dst = destination.to_external(destination.as_internal(owners))
    return sorted(zip(src.tolist(), dst.tolist(), values.tolist(), strict=True))


class TestNodes:
    @pytest.mark.parametrize("order", ["hot", "given"])
    def test_rows_go_to_the_nodes_of_their_type(self, tmp_path, order):
        ds = make(tmp_path / "data", order=order)
        grown = ds.nodes["author"].add_features("emb", ROWS * 10)
        assert isinstance(grown, gm.TypedDataset)
        assert by_source(grown.nodes["author"], "emb").tolist() == (ROWS * 10).tolist()
        assert (list(grown.nodes["paper"].features), list(ds.nodes["author"].features)) == (
            ["x"],
            [],
        )
        assert "nodes/author/features/emb.gd" in files_in(ds.path)
        assert gm.verify(ds.path).ok
        assert nothing_beside(ds)

    def test_rows_with_keys(self, ds):
        order = np.random.default_rng(0).permutation(30)
        grown = ds.nodes["author"].add_features("emb", gm.Table(source=ROWS[order], key=order))
        assert by_source(grown.nodes["author"], "emb").tolist() == ROWS.tolist()

    def test_a_table_of_another_type_is_refused(self, ds):
        """Papers and authors are equally many, and a table of the one is none of the other."""
        papers = ds.nodes["paper"].features["x"]
        for source in (papers, papers.path):
            grown = ds.nodes["paper"].add_features("same", source, overwrite=True)
            assert by_source(grown.nodes["paper"], "same").tolist() == ROWS.tolist()
            with pytest.raises(gm.errors.OrderError, match="order of another graph"):
                ds.nodes["author"].add_features("wrong", source)

    def test_the_same_in_the_order_of_the_source(self, tmp_path):
        ds = make(tmp_path / "data", order="given")
        with pytest.raises(gm.errors.OrderError, match="than node type 'author'"):
            ds.nodes["author"].add_features("wrong", ds.nodes["paper"].features["x"])

    def test_names_of_nodes(self, tmp_path):
        gm.compile_dataset(
            tmp_path / "data",
            nodes={"u": gm.Nodes(node_ids=["a", "b", "c"]), "v": gm.Nodes(num_nodes=2)},
            edges={("u", "to", "v"): ([0, 2, 2], [0, 1, 0])},
        )
        named = gm.Dataset(tmp_path / "data").nodes["u"]
        with pytest.raises(gm.errors.OrderError, match=r"nobody knows which node.*key="):
            named.add_features("x", [1.0, 2.0, 3.0])
        table = gm.Table(source=[1.0, 2.0, 3.0], key=["c", "a", "b"])
        grown = named.add_features("x", table).nodes["u"]
        assert grown.features["x"].gather(grown.to_internal(["a", "b", "c"])).tolist() == [2, 3, 1]
        with pytest.raises(gm.errors.SourceError, match=r"no node of node type 'u' has .*'d'"):
            named.add_features("y", gm.Table(source=[1.0], key=["d"], missing=0))

    def test_another_count(self, ds):
        before = files_in(ds.path)
        with pytest.raises(gm.errors.OrderError, match="29 rows, but node type 'author' has 30"):
            ds.nodes["author"].add_features("emb", ROWS[:-1])
        assert files_in(ds.path) == before
        assert nothing_beside(ds)

    def test_a_name_that_is_taken(self, ds):
        papers = ds.nodes["paper"]
        with pytest.raises(
            FileExistsError, match=r"node type 'paper' of .* has features 'x'; pass"
        ):
            papers.add_features("x", ROWS)
        grown = papers.add_features("x", ROWS + 1, overwrite=True)
        assert by_source(grown.nodes["paper"], "x").tolist() == (ROWS + 1).tolist()
        assert by_source(papers, "x").tolist() == ROWS.tolist()
        assert sum("features/x" in file for file in files_in(ds.path)) == 1
        assert list(ds.nodes["author"].add_features("x", ROWS).nodes["author"].features) == ["x"]
        for name in ("../x", "a/b", ""):
            with pytest.raises(ValueError, match="cannot be the name of a file"):
                papers.add_features(name, ROWS)

    def test_labels_and_classes(self, ds):
        texts = ["odd" if i % 2 else "even" for i in range(30)]
        grown = ds.nodes["paper"].set_labels(texts).nodes["paper"]
        assert grown.classes == ["even", "odd"]
        found = np.asarray(grown.labels)[grown.to_internal(np.arange(30))]
        assert found.tolist() == [i % 2 for i in range(30)]
        again = grown.set_labels(np.arange(30)).nodes["paper"]
        assert again.classes is None
        assert gm.verify(ds.path).ok
        assert ds.nodes["author"].set_labels(np.arange(30)).nodes["author"].num_classes == 30

    def test_times(self, ds):
        grown = ds.nodes["author"].set_timestamps(np.arange(30) * 2).nodes["author"]
        times = np.asarray(grown.timestamps)[grown.to_internal(np.arange(30))]
        assert times.tolist() == (np.arange(30) * 2).tolist()
        with pytest.raises(gm.errors.SourceError, match="times are integers"):
            ds.nodes["author"].set_timestamps(ROWS[:, 0])
        with pytest.raises(gm.errors.SourceError, match="one column, not 2"):
            ds.nodes["author"].set_timestamps(np.zeros((30, 2), np.int64))
        assert grown.remove("timestamps").nodes["author"].timestamps is None
        assert ds.nodes["paper"].timestamps is not None

    def test_splits(self, ds, tmp_path):
        papers = ds.nodes["paper"]
        with pytest.raises(gm.errors.IdError, match=r"split 'new'.*external.*internal"):
            papers.set_split("new", [5, 6])
        grown = papers.set_split("new", [5, 6], ids="external").nodes["paper"]
        assert grown.to_external(grown.splits["new"]).tolist() == [5, 6]
        grown = grown.set_split("new", np.arange(30) < 3, ids="external").nodes["paper"]
        assert sorted(grown.to_external(grown.splits["new"])) == [0, 1, 2]
        (tmp_path / "ids.txt").write_text("7\n9\n")
        grown = grown.set_split("file", tmp_path / "ids.txt", ids="external").nodes["paper"]
        assert grown.to_external(grown.splits["file"]).tolist() == [7, 9]
        with pytest.raises(gm.errors.IdError, match="30"):
            papers.set_split("new", [30], ids="external")
        authors = ds.nodes["author"].to_internal([1, 2])
        with pytest.raises(gm.errors.IdError):
            papers.set_split("mixed", authors)
        sample = gm.Dataset(ds.path).sample_neighbors(("paper", "file"), [2], seed=1)
        assert sample.num_sampled_nodes["paper"][0] == 2


class TestEdges:
    def test_rows_go_to_the_edges_and_to_their_reverse(self, ds):
        values = np.arange(90) * 3
        grown = ds.edges[WRITES].add_features("since", values)
        expected = sorted(zip(*WRITTEN.tolist(), values.tolist(), strict=True))
        assert edges_with(grown, WRITES, "since") == expected
        turned = sorted((dst, src, value) for src, dst, value in expected)
        assert edges_with(grown, REV, "since") == turned
        assert list(grown.edges[CITES].features) == []
        assert gm.verify(ds.path).ok
        assert "edges/author/writes/paper/features/since.gd" in files_in(ds.path)

    def test_the_same_from_the_reverse(self, ds):
        values = np.arange(90) * 3
        there = make(os.path.dirname(ds.path) + "/other")
        one = ds.edges[REV].add_features("since", values)
        two = there.edges[WRITES].add_features("since", values)
        for relation in (WRITES, REV):
            assert edges_with(one, relation, "since") == edges_with(two, relation, "since")

    def test_as_if_compiled_with_it(self, ds, tmp_path):
        values = np.arange(90, dtype=np.float32)[:, None]
        grown = ds.edges[WRITES].add_features("w", values)
        whole = make(tmp_path / "whole", edge_features={WRITES: {"w": values}})
        for relation in (WRITES, REV):
            file = f"edges/{'/'.join(relation)}/features/w.gd"
            assert Path(ds.path, file).read_bytes() == Path(whole.path, file).read_bytes()
        assert grown.description["edge_types"] == whole.description["edge_types"]

    def test_both_ways_within_one_type(self, tmp_path):
        ds = make(tmp_path / "data", reverse="merge")
        grown = ds.edges[CITES].add_features("w", np.arange(70))
        values = {tuple(pair): set() for pair in CITED.T.tolist()}
        for row, pair in enumerate(CITED.T.tolist()):
            values[tuple(pair)].add(row)
        for src, dst, row in edges_with(grown, CITES, "w"):
            assert row in values.get((src, dst), set()) | values.get((dst, src), set())

    def test_what_is_refused(self, ds, tmp_path):
        with pytest.raises(gm.errors.GraphmountError, match="90"):
            ds.edges[WRITES].add_features("short", np.arange(89))
        assert nothing_beside(ds)
        ds.edges[WRITES].add_features("w", np.arange(90))
        with pytest.raises(
            FileExistsError, match=r"\('author', 'writes', 'paper'\) of .* has edge"
        ):
            ds.edges[WRITES].add_features("w", np.arange(90))
        with pytest.raises(ValueError, match="has no 'v'; it has edge_features 'w'"):
            ds.edges[WRITES].remove("v")
        without = make(tmp_path / "without", source_rows=False)
        with pytest.raises(gm.errors.MissingDataError, match="source_rows=True"):
            without.edges[WRITES].add_features("w", np.arange(90))

    def test_removing_from_both(self, ds):
        grown = ds.edges[WRITES].add_features("w", np.arange(90))
        before = files_in(ds.path)
        smaller = grown.edges[REV].remove("w")
        assert [list(smaller.edges[one].features) for one in (WRITES, REV)] == [[], []]
        assert len(before - files_in(ds.path)) == 2
        assert grown.edges[WRITES].features["w"].numpy().shape == (90,)  # what was open still is


class TestRemoving:
    def test_by_name(self, ds):
        smaller = ds
        for name in ("x", "train", "labels", "timestamps"):
            smaller = smaller.nodes["paper"].remove(name)
        papers = smaller.nodes["paper"]
        assert (dict(papers.features), dict(papers.splits)) == ({}, {})
        assert (papers.labels, papers.timestamps) == (None, None)
        named = {"dataset.json", *smaller.description["files"]}
        assert files_in(ds.path) == named
        assert by_source(ds.nodes["paper"], "x").tolist() == ROWS.tolist()

    def test_what_is_not_there(self, ds):
        with pytest.raises(ValueError, match=r"'paper' of .* has no 'y'; it has features 'x', spl"):
            ds.nodes["paper"].remove("y")
        with pytest.raises(ValueError, match=r"'author' of .* has no 'x'; it has no tables"):
            ds.nodes["author"].remove("x")
        both = ds.nodes["paper"].set_split("x", [1], ids="internal")
        with pytest.raises(ValueError, match="more than once; say which by kind='features' or"):
            both.nodes["paper"].remove("x")
        assert list(both.nodes["paper"].remove("x", kind="splits").nodes["paper"].features) == ["x"]


class TestOthers:
    def test_another_dataset_in_the_folder(self, ds):
        for options in ({"reverse": False}, {"order": "given"}):
            make(ds.path, overwrite=True, **options)
            with pytest.raises(gm.errors.DatasetChangedError, match="other nodes or relations"):
                ds.nodes["paper"].add_features("emb", ROWS)
        gm.compile_dataset(ds.path, edges=([0], [1]), overwrite=True)
        with pytest.raises(gm.errors.DatasetChangedError, match="other nodes or relations"):
            ds.edges[WRITES].add_features("emb", np.arange(90))
        one = gm.Dataset(ds.path)
        make(ds.path, overwrite=True)
        with pytest.raises(gm.errors.DatasetChangedError, match="another graph"):
            one.add_features("emb", [1.0, 2.0])

    def test_changes_since_it_was_opened_are_kept(self, ds):
        ds.nodes["author"].add_features("one", ROWS)
        ds.edges[WRITES].add_features("w", np.arange(90))
        now = ds.nodes["paper"].add_features("two", ROWS)
        assert list(now.nodes["author"].features) == ["one"]
        assert list(now.edges[REV].features) == ["w"]
        assert sorted(now.nodes["paper"].features) == ["two", "x"]

    def test_one_change_at_a_time(self, ds):
        with filled_beside(ds.path), pytest.raises(BlockingIOError, match="another process"):
            ds.nodes["author"].add_features("emb", ROWS)

    def test_a_pickle_of_the_version_before(self, ds):
        pickled = pickle.dumps(ds)
        ds.nodes["author"].add_features("emb", ROWS)
        with pytest.raises(gm.errors.DatasetChangedError):
            pickle.loads(pickled)  # noqa: S301

    def test_opening_while_it_changes(self, ds):
        is_over, wrong = threading.Event(), []

        def open_again():
            while not is_over.is_set():
                try:
                    papers = gm.Dataset(ds.path).nodes["paper"]
                    if by_source(papers, "x").tolist() != ROWS.tolist():
                        wrong.append("mixed")
                except Exception as error:  # noqa: BLE001
                    wrong.append(repr(error))

        threads = [threading.Thread(target=open_again) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(6):
            now = ds.nodes["author"].set_labels(np.arange(30) + number)
            now = now.edges[WRITES].add_features(f"t{number}", np.arange(90))
            now.edges[WRITES].remove(f"t{number}")
        is_over.set()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_a_reverse_that_is_none(self, ds):
        path = Path(ds.path, "dataset.json")
        good = path.read_text()
        wrong = (["paper", "cites", "paper"], ["author"], 3, ["author", "../x", "paper"])
        for forged in wrong:
            described = json.loads(good)
            entry = next(one for one in described["edge_types"] if one["relation"] == list(REV))
            entry["reverse_of"] = forged
            path.write_text(json.dumps(described))
            with pytest.raises(gm.errors.FormatError, match="reverse"):
                gm.Dataset(ds.path)


class TestFaults:
    @pytest.mark.parametrize("place", ["write_description", "note_file", "compile_table"])
    def test_an_error_at_the_second_of_two_files_changes_nothing(self, ds, monkeypatch, place):
        module = operations if place == "compile_table" else change
        real, calls = getattr(module, place), []

        def fail(*args, **options):
            calls.append(place)
            if place == "write_description" or len(calls) > 1:
                raise OSError(28, "No space left on device")
            return real(*args, **options)

        before = files_in(ds.path)
        with monkeypatch.context() as patch:
            patch.setattr(module, place, fail)
            with pytest.raises(OSError, match="No space left"):
                ds.edges[WRITES].add_features("w", np.arange(90))
        assert files_in(ds.path) == before
        assert nothing_beside(ds)
        assert list(ds.edges[WRITES].add_features("w", np.arange(90)).edges[REV].features) == ["w"]

    @pytest.mark.parametrize("place", ["write_description", "remove_unnamed", "note_file"])
    def test_a_kill_in_the_middle_is_cleaned_up_by_the_next(self, ds, place):
        process = os.fork()
        if process == 0:
            setattr(change, place, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
            ds.edges[WRITES].add_features("w", np.arange(90))
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        opened = gm.Dataset(ds.path)  # whole, before or after the change
        both = [list(opened.edges[one].features) for one in (WRITES, REV)]
        assert both in ([[], []], [["w"], ["w"]])
        now = opened.nodes["paper"].set_split("new", [1], ids="internal")
        assert files_in(ds.path) == {"dataset.json", *now.description["files"]}
        assert nothing_beside(ds)


class TestCommandLine:
    def test_changes(self, ds, tmp_path, capsys):
        np.save(tmp_path / "emb.npy", ROWS)
        np.save(tmp_path / "y.npy", np.arange(30))
        np.save(tmp_path / "w.npy", np.arange(90))
        (tmp_path / "fold.txt").write_text("3\n4\n")
        emb, y, w = (str(tmp_path / f"{name}.npy") for name in ("emb", "y", "w"))
        of = ["--type", "author"]
        for arguments in (
            ["add-features", ds.path, "emb", emb, "--dtype", "float16", *of],
            ["set-labels", ds.path, y, *of],
            ["set-timestamps", ds.path, y, *of],
            ["set-split", ds.path, "fold", str(tmp_path / "fold.txt"), *of],
            ["add-edge-features", ds.path, "w", w, "--relation", "author,writes,paper"],
            ["remove", ds.path, "x", "--type", "paper"],
        ):
            assert main(["dataset", *arguments]) == 0
        out = capsys.readouterr().out
        assert "features 'emb' added for author" in out
        assert "edge_features 'w' added for author,writes,paper" in out
        now = gm.Dataset(ds.path)
        authors = now.nodes["author"]
        assert str(authors.features["emb"].dtype) == "float16"
        assert authors.to_external(authors.splits["fold"]).tolist() == [3, 4]
        assert (authors.num_classes, authors.timestamps is None) == (30, False)
        assert list(now.edges[REV].features) == ["w"]
        assert list(now.nodes["paper"].features) == []
        assert (
            main(["dataset", "remove", ds.path, "w", "--relation", "paper,rev_writes,author"]) == 0
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["remove", "{}", "x"], "many node types; say which by --type, one of paper, author"),
            (["remove", "{}", "x", "--type", "venue"], "no node type 'venue'; there are paper, au"),
            (
                ["remove", "{}", "x", "--relation", "author,reads,paper"],
                "no relation 'author,reads,paper'; there are author,writes,paper, paper,cites,p",
            ),
            (["remove", "{}", "x", "--relation", "writes"], "no relation 'writes'"),
            (
                ["remove", "{}", "x", "--type", "paper", "--relation", "a,b,c"],
                "both there; give one",
            ),
            (
                ["remove", "{}", "x", "--kind", "splits", "--relation", "author,writes,paper"],
                "a relation has no splits",
            ),
            (["remove", "{}", "x", "--kind", "edge_features", "--type", "paper"], "kind"),
            (["add-edge-features", "{}", "w", "w.npy"], "say which by --relation, one of author,w"),
        ],
    )
    def test_refusals(self, ds, capsys, arguments, message):
        assert main(["dataset", *(part.format(ds.path) for part in arguments)]) == 2
        assert message in capsys.readouterr().err

    def test_a_dataset_of_one_type(self, tmp_path, capsys):
        gm.compile_dataset(tmp_path / "one", edges=([0], [1]))
        one = str(tmp_path / "one")
        assert main(["dataset", "remove", one, "x", "--type", "paper"]) == 2
        assert "has one node type; leave --type out" in capsys.readouterr().err
        assert main(["dataset", "set-timestamps", one, "t.npy"]) == 2
        assert "whose nodes have no times" in capsys.readouterr().err


class TestMemory:
    def test_places_of_rows_are_found_piece_by_piece(self, ds, monkeypatch):
        monkeypatch.setattr(operations, "_NODES_AT_ONCE", 7)
        grown = ds.nodes["author"].add_features("emb", ROWS * 3)
        assert by_source(grown.nodes["author"], "emb").tolist() == (ROWS * 3).tolist()

    def test_more_nodes_than_memory(self, tmp_path):
        num_nodes = 5_000_000
        gm.compile_dataset(
            tmp_path / "data",
            nodes={"u": gm.Nodes(num_nodes=num_nodes)},
            edges={("u", "to", "u"): ([4_999_999], [0])},
        )
        nodes = gm.Dataset(tmp_path / "data").nodes["u"]
        rows = np.zeros(num_nodes, np.int8)
        with pytest.raises(gm.errors.BudgetError, match=r"places of 5,000,000 rows.*pass memory=8"):
            nodes.add_features("x", rows, memory="64MiB")
        assert list(nodes.add_features("x", rows).nodes["u"].features) == ["x"]
