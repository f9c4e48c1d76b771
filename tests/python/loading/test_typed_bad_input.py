"""Bad and doubtful input of loaders over many types: what is wrong is said, what is fine works.

Papers and authors both have labels and a table `x`; a table of edges is called like its relation.
"""

from __future__ import annotations

import numpy as np
import pytest
from typed_loader_data import CITES, COUNTS, WRITES, all_same, check_rows, make_typed

import graphmount as gm
from graphmount import errors


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


class TestSeeds:
    def test_of_a_type_that_does_not_exist(self, ds):
        known = "there are 'paper', 'author', 'institution', 'topic'"
        for nodes in (("papers", [0]), "papers", ("papers", None), {"papers": [0]}):
            with pytest.raises(ValueError, match=f"no node type 'papers'; {known}"):
                gm.NeighborLoader(ds, [2], input_nodes=nodes)

    def test_of_a_relation(self, ds):
        with pytest.raises(TypeError, match="input_nodes must be a node type and its nodes"):
            gm.NeighborLoader(ds, [2], input_nodes=(CITES, [0]))


class TestLinks:
    def test_between_types_that_the_relation_does_not_join(self, ds):
        wrong = {
            ("paper", "writes", "author"): "'writes' leads from 'author' to 'paper': turn it round",
            ("author", "writes", "topic"): "'writes' leads from 'author' to 'paper'$",
            ("author", "likes", "paper"): r"there are \('author', 'writes', 'paper'\)",
        }
        for relation, message in wrong.items():
            with pytest.raises(ValueError, match=f"no relation .*{message}"):
                gm.LinkNeighborLoader(ds, [2], edge_label_index=(relation, [[0], [0]]))

    def test_whose_ends_are_nodes_of_the_other_type(self, ds):
        papers = ds.nodes["paper"].to_internal([1, 2])
        authors = ds.nodes["author"].to_internal([1, 2])
        with pytest.raises(errors.IdError, match="nodes of another dataset"):
            gm.LinkNeighborLoader(ds, [2], edge_label_index=(WRITES, (papers, authors)))
        few = COUNTS["author"]
        with pytest.raises(errors.IdError, match=rf"edge_label_index\[0\].* 'author'.* {few}"):
            gm.LinkNeighborLoader(
                ds, [2], edge_label_index=(WRITES, [[few], [few]]), ids="external"
            )


class TestLabelsOnTwoTypes:
    def test_batches_have_those_of_their_seeds(self, ds):
        for kind in ("paper", "author"):
            batch = next(iter(gm.NeighborLoader(ds, [2], input_nodes=kind, batch_size=9)))
            seeds = np.asarray(ds.nodes[kind].to_external(batch.nodes[kind][:9]))
            assert list(batch.labels) == [kind]
            np.testing.assert_array_equal(batch.labels[kind], seeds % 5)

    def test_labels_of_nobody_in_particular(self, tmp_path):
        nodes = {"u": gm.Nodes(num_nodes=2), "v": gm.Nodes(num_nodes=2)}
        edges = {("u", "to", "v"): ([0], [1])}
        with pytest.raises(ValueError, match=r"labels= does not go .*gm.Nodes"):
            gm.compile_dataset(tmp_path / "d", nodes=nodes, edges=edges, labels=[0, 1])


class TestBudgets:
    @pytest.mark.parametrize("memory", ["1B", "4KiB"])
    def test_smaller_than_one_batch_of_one_type(self, ds, memory):
        options = {"input_nodes": "paper", "batch_size": 300, "seed": 1}
        small = gm.NeighborLoader(ds, [5, 5], memory=memory, **options)
        assert all_same(small, gm.NeighborLoader(ds, [5, 5], memory="64MiB", **options))
        assert next(iter(small)).features["paper"]["x"].nbytes > small.stats().budget_bytes

    def test_that_nobody_can_mean(self, ds):
        with pytest.raises(ValueError, match="Write memory='1GiB'"):
            gm.NeighborLoader(ds, [2], input_nodes="paper", memory=1)
        with pytest.raises(ValueError, match="batch_size must be at least 1, not 0"):
            gm.NeighborLoader(ds, [2], input_nodes="paper", batch_size=0)


class TestTablesOfOneName:
    def test_a_name_stands_for_those_of_all_types(self, ds):
        options = {"input_nodes": "paper", "batch_size": 50}
        batch = next(iter(gm.NeighborLoader(ds, [3, 3], features=["x"], **options)))
        assert {kind: sorted(own) for kind, own in batch.features.items() if own} == {
            "paper": ["x"],
            "author": ["x"],
        }
        assert batch.features["paper"]["x"].shape[1:] == (16,)
        assert batch.features["author"]["x"].shape[1:] == (24,)

    def test_one_of_them_goes_by_its_type(self, ds):
        loader = gm.NeighborLoader(
            ds,
            [3, 3],
            input_nodes="paper",
            batch_size=50,
            features={"author": ["x"]},
            dtype={("author", "x"): "float64"},
        )
        batch = next(iter(loader))
        assert batch.features["author"]["x"].dtype == np.float64
        assert batch.features["paper"] == {}
        with pytest.raises(ValueError, match=r"there is no table .*'paper', 'z'"):
            gm.NeighborLoader(ds, [3], input_nodes="paper", dtype={("paper", "z"): "float64"})


class TestNamesOfTablesAndRelations:
    def test_a_table_of_edges_may_be_called_like_its_relation(self, ds):
        options = {"input_nodes": "paper", "batch_size": 50, "edge_features": ["writes"]}
        for batch in gm.NeighborLoader(ds, [3, 3], **options):
            check_rows(batch)
            assert len(batch.edge_features[WRITES]["writes"]) == len(batch.edge_ids[WRITES])

    def test_all_may_have_one_name(self, tmp_path):
        gm.compile_dataset(
            tmp_path / "d",
            nodes={"x": gm.Nodes(features={"x": np.eye(3, dtype=np.float32)})},
            edges={("x", "x", "x"): ([0, 1, 2], [1, 2, 0])},
            edge_features={("x", "x", "x"): {"x": np.array([[5], [6], [7]], np.int32)}},
            order="given",
        )
        loader = gm.NeighborLoader(
            tmp_path / "d", [1], input_nodes="x", batch_size=3, edge_features=["x"]
        )
        (batch,) = loader
        assert batch.features["x"]["x"].shape == (3, 3)
        rows = batch.edge_features["x", "x", "x"]["x"]
        np.testing.assert_array_equal(
            rows[:, 0], 5 + np.asarray(batch.nodes["x"])[batch.edge_index["x", "x", "x"][0]]
        )
