"""Ids that cannot be confused: a reordered dataset takes those of which it is known whose they are.

The table `x` has the external id of each node, so rows tell which nodes a call has met.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

NUM_NODES = 60
LABELS = np.arange(NUM_NODES) % 7
TRAIN = np.array([3, 50, 8, 41, 17])
BOTH_READINGS = r"ids of the source or of the dataset.*external.*internal"
TO_OR_AS_INTERNAL = r"ids of the source or of the dataset.*to_internal.*as_internal"


def compile_folder(path, **options):
    generator = np.random.default_rng(5)
    edges = generator.integers(0, NUM_NODES, (2, 400))
    gm.compile_dataset(
        path,
        edges=tuple(edges),
        features={"x": np.arange(NUM_NODES, dtype=np.float32)[:, None]},
        labels=LABELS,
        splits={"train": TRAIN},
        overwrite=True,
        **options,
    )
    return gm.Dataset(path), edges


@pytest.fixture(scope="module")
def reordered(tmp_path_factory):
    dataset, _ = compile_folder(tmp_path_factory.mktemp("ids") / "hot")
    assert dataset.graph.order != 0
    return dataset


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    return compile_folder(tmp_path_factory.mktemp("ids") / "edges")[1]


@pytest.fixture(scope="module")
def in_given_order(tmp_path_factory):
    return compile_folder(tmp_path_factory.mktemp("ids") / "given", order="given")[0]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A dataset whose source has names for its nodes."""
    path = tmp_path_factory.mktemp("ids") / "named"
    polars = pytest.importorskip("polars")
    edges = polars.DataFrame({"from": ["ann", "bob", "cay"], "to": ["bob", "cay", "ann"]})
    gm.compile_dataset(path, edges=edges, ids="map")
    return gm.Dataset(path)


def seeds_of(loader):
    """The external ids of all seeds, by the rows that batches have."""
    return np.concatenate([b.features["x"][: b.batch_size, 0] for b in loader]).astype(int)


class TestNodeLoader:
    @pytest.mark.parametrize("nodes", [TRAIN, TRAIN.tolist(), TRAIN.astype(np.int32)])
    def test_plain_integers_are_refused(self, reordered, nodes):
        with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
            gm.NeighborLoader(reordered, [2], input_nodes=nodes)

    def test_masks_are_refused(self, reordered):
        with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
            gm.NeighborLoader(reordered, [2], input_nodes=np.arange(NUM_NODES) < 5)

    def test_external_ids_are_those_of_the_source(self, reordered):
        loader = gm.NeighborLoader(reordered, [2], input_nodes=TRAIN, ids="external", batch_size=2)
        assert seeds_of(loader).tolist() == TRAIN.tolist()
        assert np.concatenate([b.labels for b in loader]).tolist() == LABELS[TRAIN].tolist()

    def test_a_mask_of_the_source(self, reordered):
        mask = np.zeros(NUM_NODES, bool)
        mask[TRAIN] = True
        loader = gm.NeighborLoader(reordered, [2], input_nodes=mask, ids="external", batch_size=2)
        assert seeds_of(loader).tolist() == sorted(TRAIN.tolist())

    def test_internal_ids_are_those_of_the_dataset(self, reordered):
        loader = gm.NeighborLoader(reordered, [2], input_nodes=[0, 7], ids="internal")
        assert seeds_of(loader).tolist() == reordered.to_external([0, 7]).tolist()

    def test_a_mask_of_the_dataset(self, reordered):
        mask = np.zeros(NUM_NODES, bool)
        mask[[4, 9]] = True
        loader = gm.NeighborLoader(reordered, [2], input_nodes=mask, ids="internal")
        assert seeds_of(loader).tolist() == reordered.to_external([4, 9]).tolist()

    def test_the_name_of_a_split_needs_no_ids(self, reordered):
        loader = gm.NeighborLoader(reordered, [2], input_nodes="train")
        assert seeds_of(loader).tolist() == TRAIN.tolist()

    @pytest.mark.parametrize("ids", [None, "internal"])
    def test_what_a_dataset_gives_needs_no_ids(self, reordered, ids):
        for known in (reordered.splits["train"], reordered.to_internal(TRAIN)):
            loader = gm.NeighborLoader(reordered, [2], input_nodes=known, ids=ids)
            assert seeds_of(loader).tolist() == TRAIN.tolist()

    def test_what_batches_carry_needs_no_ids(self, reordered):
        batch = next(iter(gm.NeighborLoader(reordered, [2], input_nodes="train", batch_size=3)))
        loader = gm.NeighborLoader(reordered, [2], input_nodes=batch.nodes[:3])
        assert seeds_of(loader).tolist() == TRAIN[:3].tolist()

    def test_a_mask_made_of_labels_needs_no_ids(self, reordered):
        loader = gm.NeighborLoader(reordered, [2], input_nodes=reordered.labels == 3)
        assert sorted(seeds_of(loader).tolist()) == np.flatnonzero(LABELS == 3).tolist()

    def test_plain_copies_are_plain(self, reordered):
        train = reordered.splits["train"]
        copies = [train.copy(), np.array(train), train + 0, np.asarray(train), train.tolist(),
                  np.concatenate([train, train]), np.sort(train), np.zeros_like(train),
                  train.astype(np.int32), np.unique(train)]  # fmt: skip
        for copy in copies:
            with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
                gm.NeighborLoader(reordered, [2], input_nodes=copy)

    def test_known_ids_are_not_external(self, reordered):
        with pytest.raises(
            ValueError, match=r"internal ids.*ids='external' is for ids of the source"
        ):
            gm.NeighborLoader(reordered, [2], input_nodes=reordered.splits["train"], ids="external")

    def test_ids_of_another_dataset_are_refused(self, reordered, tmp_path, in_given_order):
        other, _ = compile_folder(
            tmp_path / "other", order=np.random.default_rng(1).permutation(60)
        )
        for dataset in (other, in_given_order):
            with pytest.raises(gm.errors.IdError, match="another dataset"):
                gm.NeighborLoader(dataset, [2], input_nodes=reordered.splits["train"])

    def test_ids_is_one_of_two_words(self, reordered):
        with pytest.raises(ValueError, match=r"ids='outer'; choose one of.*'external'"):
            gm.NeighborLoader(reordered, [2], input_nodes=[1], ids="outer")

    def test_no_inputs_are_no_mistake(self, reordered):
        assert len(gm.NeighborLoader(reordered, [2], input_nodes=[])) == 0

    def test_nodes_that_do_not_exist(self, reordered):
        for reading in ("internal", "external"):
            with pytest.raises(gm.errors.IdError, match=r"input_nodes.*60"):
                gm.NeighborLoader(reordered, [2], input_nodes=[60], ids=reading)

    @pytest.mark.parametrize("reading", [None, "internal", "external"])
    def test_the_order_of_the_source_has_one_kind_of_ids(self, in_given_order, reading):
        loader = gm.NeighborLoader(in_given_order, [2], input_nodes=TRAIN, ids=reading)
        assert seeds_of(loader).tolist() == TRAIN.tolist()

    def test_graphs_alone_take_plain_ids(self, reordered):
        graph = gm.Graph(reordered.graph.path)
        assert len(gm.NeighborLoader(graph, [2], input_nodes=TRAIN)) == len(TRAIN)

    def test_the_graph_of_a_dataset_with_tables_is_asked_too(self, reordered):
        data = (reordered.graph, reordered.features["x"])
        with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
            gm.NeighborLoader(data, [2], input_nodes=TRAIN)

    def test_a_loader_that_was_sent_elsewhere_has_the_same_seeds(self, reordered):
        loader = gm.NeighborLoader(reordered, [2], input_nodes=TRAIN, ids="external")
        assert seeds_of(pickle.loads(pickle.dumps(loader))).tolist() == TRAIN.tolist()  # noqa: S301

    @given(st.lists(st.integers(0, NUM_NODES - 1), min_size=1, max_size=30))
    def test_any_external_ids_against_the_slow_way(self, reordered, nodes):
        loader = gm.NeighborLoader(reordered, [1], input_nodes=nodes, ids="external", batch_size=7)
        assert seeds_of(loader).tolist() == nodes


class TestNames:
    def test_names_are_external_without_saying_so(self, named):
        loader = gm.NeighborLoader(named, [1], input_nodes=["cay", "ann"], batch_size=2)
        assert next(iter(loader)).external_ids[:2] == ["cay", "ann"]

    def test_a_mask_cannot_mean_names(self, named):
        with pytest.raises(gm.errors.IdError, match=r"mask.*has other ids"):
            gm.NeighborLoader(named, [1], input_nodes=[True, False, True], ids="external")

    @pytest.mark.parametrize("nodes", [[True, False, True], [0, 2]])
    def test_advice_for_numbers_and_masks_can_be_followed(self, named, nodes):
        with pytest.raises(
            gm.errors.IdError, match=r"have names: pass these, or ids='internal'"
        ) as error:
            gm.NeighborLoader(named, [1], input_nodes=nodes)
        assert "ids='external'" not in str(error.value)
        assert len(gm.NeighborLoader(named, [1], input_nodes=nodes, ids="internal")) == 2

    def test_integers_are_not_names(self, named):
        with pytest.raises(TypeError, match=r"input_nodes, as ids of the source.*strings"):
            gm.NeighborLoader(named, [1], input_nodes=[0], ids="external")


class TestLinkLoader:
    def test_plain_links_are_refused(self, reordered, edges):
        with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
            gm.LinkNeighborLoader(reordered, [2], edge_label_index=edges[:, :5])

    def test_external_links(self, reordered, edges):
        loader = gm.LinkNeighborLoader(
            reordered, [2], edge_label_index=edges[:, :9], ids="external", batch_size=4
        )
        ends = [b.features["x"][:, 0][b.edge_label_index] for b in loader]
        assert np.concatenate(ends, axis=1).tolist() == edges[:, :9].tolist()

    def test_links_of_known_ids(self, reordered, edges):
        known = tuple(reordered.to_internal(column[:9]) for column in edges)
        loader = gm.LinkNeighborLoader(reordered, [2], edge_label_index=known, batch_size=9)
        batch = next(iter(loader))
        assert batch.features["x"][:, 0][batch.edge_label_index].tolist() == edges[:, :9].tolist()

    def test_weights_of_negatives_follow_ids(self, reordered, edges):
        weights = np.zeros(NUM_NODES)
        weights[42] = 1  # an id of the source
        negatives = gm.LinkNegatives("triplet", 3, strict=False, dst_weight=weights)
        options = {"edge_label_index": edges[:, :4], "neg_sampling": negatives, "batch_size": 4}
        batch = next(iter(gm.LinkNeighborLoader(reordered, [1], ids="external", **options)))
        assert set(batch.features["x"][:, 0][batch.dst_neg_index].ravel()) == {42}
        inside = options | {"edge_label_index": None}
        with pytest.raises(gm.errors.IdError, match=f"dst_weight: .*{BOTH_READINGS}"):
            gm.LinkNeighborLoader(reordered, [1], **inside)
        batch = next(iter(gm.LinkNeighborLoader(reordered, [1], ids="internal", **inside)))
        expected = set(reordered.to_external([42]).tolist())
        assert set(batch.features["x"][:, 0][batch.dst_neg_index].ravel()) == expected


class TestRowsAndGraph:
    def test_gather_takes_known_ids_only(self, reordered):
        store = reordered.features["x"]
        with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
            store.gather(TRAIN)
        with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
            store.prefetch(TRAIN)
        assert store.gather(reordered.to_internal(TRAIN))[:, 0].tolist() == TRAIN.tolist()
        inside = store.gather(reordered.as_internal([1, 0]))[:, 0]
        assert inside.tolist() == reordered.to_external([1, 0]).tolist()

    def test_rows_alone_take_plain_ids(self, reordered):
        store = gm.FeatureStore(reordered.features["x"].path)
        assert store.gather([1, 0])[:, 0].tolist() == reordered.to_external([1, 0]).tolist()

    def test_labels_take_known_ids_only(self, reordered):
        labels = reordered.labels
        for index in (TRAIN, TRAIN.tolist(), np.arange(NUM_NODES) < 3, (TRAIN,)):
            with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
                labels[index]
        assert labels[reordered.to_internal(TRAIN)].tolist() == LABELS[TRAIN].tolist()
        assert labels[labels >= 5].tolist() == np.asarray(labels)[np.asarray(labels) >= 5].tolist()
        assert labels[0] == LABELS[reordered.to_external([0])[0]]
        assert len(labels[3:9]) == 6

    def test_views_of_tables_take_known_ids_only(self, reordered):
        rows = reordered.features["x"].numpy()
        with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
            rows[TRAIN]
        assert rows[reordered.splits["train"]][:, 0].tolist() == TRAIN.tolist()
        assert rows[reordered.splits["train"], 0].tolist() == TRAIN.tolist()

    def test_the_part_of_an_index_that_picks_rows_is_looked_at(self, reordered):
        labels, rows = reordered.labels, reordered.features["x"].numpy()
        for pick in (
            lambda: labels[..., TRAIN],
            lambda: labels[None, TRAIN],
            lambda: rows[TRAIN, 0],
            lambda: labels.take(TRAIN),
            lambda: np.take(rows, TRAIN, axis=0),
        ):
            with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
                pick()
        nodes = reordered.to_internal(TRAIN)
        assert np.take(rows, nodes, axis=0)[:, 0].tolist() == TRAIN.tolist()
        assert labels[None, nodes].tolist() == [LABELS[TRAIN].tolist()]
        assert rows[..., [0]].shape == rows[:, [0]].shape == rows.take([0], axis=1).shape
        assert rows[rows < 3].tolist() == [value for value in rows.ravel().tolist() if value < 3]

    def test_masks_of_rows_do_not_mix_with_others(self, reordered):
        labels = reordered.labels
        ours, of_the_source = labels == 3, np.arange(NUM_NODES) < 30
        assert len(labels[ours | (labels == 4)]) == len(labels[~ours & (labels == 4)]) + sum(ours)
        for mixed in (ours & of_the_source, of_the_source & ours, labels == LABELS):
            with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
                labels[mixed]
            with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
                gm.NeighborLoader(reordered, [2], input_nodes=mixed)

    def test_a_mask_of_all_or_none_is_the_same_in_any_order(self, reordered):
        labels = reordered.labels
        assert len(labels[np.ones(NUM_NODES, bool)]) == NUM_NODES
        assert len(labels[np.zeros(NUM_NODES, bool)]) == 0
        np.testing.assert_array_equal(labels, np.array(labels))  # which has such a mask

    def test_what_is_no_index_is_refused_as_such(self, reordered):
        store, labels = reordered.features["x"], reordered.labels
        for index in ([0.5], ["a"]):
            with pytest.raises(IndexError, match="valid indices"):
                labels[index]
            with pytest.raises(TypeError, match="ids must be integers"):
                store.gather(index)
        with pytest.raises(TypeError, match="seeds must be integers"):
            reordered.graph.sample_neighbors([0.5], [2])
        with pytest.raises(ValueError, match="masked"):
            store.gather(np.ma.masked_array([0, 1], [False, True]))

    def test_known_ids_are_translated_one_way_only(self, reordered, in_given_order):
        train = reordered.splits["train"]
        for taker in (reordered, reordered.graph, in_given_order):
            with pytest.raises(ValueError, match=r"internal ids.*to_internal is for ids of the so"):
                taker.to_internal(train)
        with pytest.raises(gm.errors.IdError, match="another dataset"):
            in_given_order.to_external(train)
        assert reordered.graph.to_external(train).tolist() == TRAIN.tolist()

    def test_what_is_plain_looks_plain(self, reordered):
        assert repr(reordered.splits["train"]).startswith("NodeIds([")
        assert repr(reordered.labels).startswith("NodeRows([")
        assert repr(reordered.splits["train"].copy()).startswith("array([")
        assert repr(reordered.labels.copy()).startswith("array([")

    def test_what_is_computed_of_rows_is_plain(self, reordered):
        for plain in (reordered.labels + 1, reordered.labels.copy(), reordered.labels[::2]):
            assert plain[[0, 1]].shape == (2,)

    @pytest.mark.parametrize(
        "call",
        [
            lambda graph, nodes: graph.sample_neighbors(nodes, [2]),
            lambda graph, nodes: graph.batch_random_fanout(nodes, 2),
            lambda graph, nodes: graph.random_walk(nodes, 2),
            lambda graph, nodes: graph.skip_gram_pairs(nodes, 2, window=1),
            lambda graph, nodes: graph.visit_counts(nodes, 2, length=2),
            lambda graph, nodes: graph.has_edge(nodes, nodes),
            lambda graph, nodes: graph.sample_negatives(nodes),
            lambda graph, nodes: graph.degree(nodes),
            lambda graph, nodes: graph.prefetch(nodes),
            lambda graph, nodes: gm.expected_access(graph, nodes, [2], batch_size=2),
        ],
    )
    def test_calls_of_its_graph_take_known_ids_only(self, reordered, call):
        with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
            call(reordered.graph, TRAIN)
        call(reordered.graph, reordered.to_internal(TRAIN))
        call(gm.Graph(reordered.graph.path), TRAIN)

    def test_what_its_graph_gives_is_known(self, reordered):
        graph, store = reordered.graph, reordered.features["x"]
        start = reordered.to_internal(TRAIN)
        walks = graph.random_walk(start, 3)
        pairs = graph.skip_gram_pairs(start, 3, window=1)
        nodes = [
            graph.sample_neighbors(start, [2]).nodes,
            graph.neighbors(int(start[0])),
            graph.visit_counts(start, 2, length=2).nodes,
            graph.sample_negatives(start)[:, 0],
            graph.batch_random_fanout(start, 2).reshape(-1),
            walks[:, 1],
            walks.reshape(-1),
            pairs.centers,
            pairs.contexts,
            *graph.sample_negative_pairs(4),
        ]
        for known in nodes:
            found = store.gather(known)[:, 0]
            assert found.tolist() == reordered.to_external(known).tolist()

    def test_as_internal_checks(self, reordered, in_given_order):
        with pytest.raises(gm.errors.IdError, match="60"):
            reordered.as_internal([60])
        with pytest.raises(gm.errors.IdError, match="another dataset"):
            in_given_order.as_internal(reordered.splits["train"])
        assert type(in_given_order.as_internal([1])) is np.ndarray

    def test_files_of_a_dataset_that_were_sent_elsewhere_ask_too(self, reordered):
        store = pickle.loads(pickle.dumps(reordered.features["x"]))  # noqa: S301
        with pytest.raises(gm.errors.IdError, match=TO_OR_AS_INTERNAL):
            store.gather(TRAIN)

    def test_splits_to_compile_are_ids_of_the_source(self, reordered, tmp_path):
        train = reordered.splits["train"]
        options = {"edges": reordered.graph, "labels": reordered.labels}
        with pytest.raises(ValueError, match=r"split 'train' has internal ids.*to_external"):
            gm.compile_dataset(tmp_path / "again", **options, splits={"train": train})
        external = reordered.to_external(train)
        splits = {"train": external, "three": reordered.labels == 3}
        gm.compile_dataset(tmp_path / "again", **options, splits=splits)
        again = gm.Dataset(tmp_path / "again")
        assert again.labels[again.splits["train"]].tolist() == LABELS[TRAIN].tolist()
        assert set(again.labels[again.splits["three"]].tolist()) == {3}
