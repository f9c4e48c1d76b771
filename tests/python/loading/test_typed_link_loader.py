"""The loader of links over many types: seeds of both ends, negatives between the right types."""

from __future__ import annotations

import numpy as np
import pytest
from typed_batch_twin import check_against_twin, lists_of
from typed_loader_data import (
    AT,
    CITES,
    COUNTS,
    REV_WRITES,
    WRITES,
    all_same,
    check_rows,
    make_typed,
)

import graphmount as gm
from graphmount import errors

FANOUTS = [3, 2]


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


def links_of(dataset, relation, count, seed=1):
    """Edges of the relation, as internal ids."""
    lists = dataset.edges[relation].graph.neighbor_lists()
    destinations = np.repeat(np.arange(len(lists.indptr) - 1), np.diff(lists.indptr))
    places = np.random.default_rng(seed).integers(0, len(destinations), count)
    source, destination = dataset.nodes[relation[0]], dataset.nodes[relation[2]]
    return source.as_internal(lists.indices[places].astype(np.int64)), destination.as_internal(
        destinations[places]
    )


def edges_of(dataset, relation):
    lists = dataset.edges[relation].graph.neighbor_lists()
    destinations = np.repeat(np.arange(len(lists.indptr) - 1), np.diff(lists.indptr))
    return set(zip(lists.indices.tolist(), destinations.tolist(), strict=True))


def make_loader(dataset, relation, links, **options):
    options = {"batch_size": 40, "seed": 3, "memory": "30KiB", **options}
    return gm.LinkNeighborLoader(dataset, FANOUTS, edge_label_index=(relation, links), **options)


@pytest.mark.parametrize("relation", [WRITES, REV_WRITES, CITES, AT])
@pytest.mark.parametrize("disjoint", [False, True])
def test_seeds_are_the_ends_of_links(ds, relation, *, disjoint):
    sources, destinations = links_of(ds, relation, 150)
    lists = lists_of(ds)
    fanouts = dict.fromkeys(ds.edge_types, FANOUTS)
    for batch in make_loader(ds, relation, (sources, destinations), disjoint=disjoint):
        check_rows(batch)
        assert batch.edge_type == relation
        nodes = {name: np.asarray(ids) for name, ids in batch.nodes.items()}
        places = batch.input_ids
        row, col = batch.edge_label_index
        np.testing.assert_array_equal(nodes[relation[0]][row], np.asarray(sources)[places])
        np.testing.assert_array_equal(nodes[relation[2]][col], np.asarray(destinations)[places])
        seeds = {name: nodes[name][: batch.num_sampled_nodes[name][0]].tolist() for name in nodes}
        twin = check_against_twin(batch, lists, fanouts, seeds, disjoint=disjoint)
        if not disjoint:
            assert batch.batch is None
            for name in {relation[0], relation[2]}:
                assert seeds[name] == sorted(set(seeds[name]))
            continue
        # The link of a node is that of the end that its tree begins with.
        count = len(places)
        of_tree = {}
        for name in COUNTS:
            of_tree |= dict(zip(twin.trees[name][: len(seeds[name])], seeds[name], strict=True))
        for name, trees in twin.trees.items():
            for tree, link in zip(trees, batch.batch[name].tolist(), strict=True):
                assert link == tree % count
                ends = (np.asarray(sources)[places[link]], np.asarray(destinations)[places[link]])
                assert of_tree[tree] in ends


@pytest.mark.parametrize("relation", [WRITES, REV_WRITES, CITES])
@pytest.mark.parametrize("amount", [1, 2.5])
def test_binary_negatives_are_pairs_of_the_right_types(ds, relation, amount):
    edges = edges_of(ds, relation)
    negatives = gm.LinkNegatives("binary", amount)
    loader = make_loader(ds, relation, links_of(ds, relation, 150), neg_sampling=negatives)
    seen = [set(), set()]
    for batch in loader:
        check_rows(batch)
        count = batch.num_links
        row, col = batch.edge_label_index
        assert batch.edge_label.tolist() == [1.0] * count + [0.0] * int(np.ceil(count * amount))
        sources = np.asarray(batch.nodes[relation[0]])[row]
        destinations = np.asarray(batch.nodes[relation[2]])[col]
        pairs = list(zip(sources.tolist(), destinations.tolist(), strict=True))
        assert all(pair in edges for pair in pairs[:count])
        assert not any(pair in edges for pair in pairs[count:])
        seen[0] |= set(sources[count:].tolist())
        seen[1] |= set(destinations[count:].tolist())
    # From all over each type, and not from the smaller range of the other.
    assert max(seen[0]) > 0.9 * COUNTS[relation[0]]
    assert max(seen[1]) > 0.9 * COUNTS[relation[2]]


@pytest.mark.parametrize("disjoint", [False, True])
def test_triplets_have_destinations_of_the_right_type(ds, *, disjoint):
    edges = edges_of(ds, WRITES)
    sources, destinations = links_of(ds, WRITES, 100)
    times = np.random.default_rng(1).integers(20, 100, 100) if disjoint else None
    loader = make_loader(
        ds,
        WRITES,
        (sources, destinations),
        neg_sampling=("triplet", 3),
        disjoint=disjoint,
        edge_label_time=times,
    )
    for batch in loader:
        check_rows(batch)
        authors, papers = (np.asarray(batch.nodes[name]) for name in ("author", "paper"))
        np.testing.assert_array_equal(
            authors[batch.src_index], np.asarray(sources)[batch.input_ids]
        )
        np.testing.assert_array_equal(
            papers[batch.dst_pos_index], np.asarray(destinations)[batch.input_ids]
        )
        assert batch.dst_neg_index.shape == (batch.num_links, 3)
        for link, source in enumerate(authors[batch.src_index].tolist()):
            for negative in papers[batch.dst_neg_index[link]].tolist():
                assert (source, negative) not in edges
        assert batch.edge_label_index is None
        if times is not None:
            np.testing.assert_array_equal(batch.edge_label_time, times[batch.input_ids])
            for name in ("author", "paper"):
                assert batch.batch[name].max() < batch.num_links
            np.testing.assert_array_equal(
                batch.batch["paper"][batch.dst_neg_index],
                np.repeat(np.arange(batch.num_links)[:, None], 3, axis=1),
            )
            np.testing.assert_array_equal(
                batch.batch["author"][batch.src_index], np.arange(batch.num_links)
            )


@pytest.mark.parametrize("negatives", ["binary", ("triplet", 2)])
def test_same_bits_for_any_threads_and_memory(ds, negatives):
    links = links_of(ds, WRITES, 300)

    def batches(threads, memory):
        gm.set_num_threads(threads)
        options = {"shuffle": True, "neg_sampling": negatives, "memory": memory}
        return list(make_loader(ds, WRITES, links, **options))

    before = gm.num_threads()
    try:
        wanted = batches(1, "30KiB")
        for threads in (1, 2, 7):
            for memory in (0, "5KiB", "30KiB", "1MiB", None):
                found = batches(threads, memory)
                assert all_same(wanted, found)
                for one, other in zip(wanted, found, strict=True):
                    for name in ("edge_label_index", "edge_label", "src_index", "dst_neg_index"):
                        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    finally:
        gm.set_num_threads(before)


def test_a_relation_alone_stands_for_its_edges(ds):
    loader = gm.LinkNeighborLoader(ds, [1], edge_label_index=AT, batch_size=60, seed=1)
    found, wanted = [], list(loader)
    for batch in wanted:
        row, col = batch.edge_label_index
        ends = (batch.nodes["author"][row].tolist(), batch.nodes["institution"][col].tolist())
        found += zip(*ends, strict=True)
    assert set(found) == edges_of(ds, AT)
    assert len(found) == ds.edges[AT].num_edges
    # PyG's ways to say it: a pair with None, and the two types if one relation joins them.
    for said in ((AT, None), [list(AT), None], (("author", "institution"), None)):
        again = gm.LinkNeighborLoader(ds, [1], edge_label_index=said, batch_size=60, seed=1)
        assert all_same(wanted, again)


def test_goes_on_in_the_middle_of_an_epoch(ds):
    links = links_of(ds, WRITES, 300)
    wanted = list(make_loader(ds, WRITES, links, neg_sampling="binary"))
    loader = make_loader(ds, WRITES, links, neg_sampling="binary")
    batches = iter(loader)
    next(batches)
    other = make_loader(ds, WRITES, links, neg_sampling="binary", seed=9)
    other.load_state_dict(loader.state_dict())
    assert all_same(wanted[1:], other)
    turned = make_loader(ds, REV_WRITES, links[::-1], neg_sampling="binary")
    with pytest.raises(ValueError, match="what the loader has for inputs"):
        turned.load_state_dict(loader.state_dict())


def test_labels_and_weights(ds):
    sources, destinations = links_of(ds, WRITES, 90)
    labels = np.arange(90) % 3
    weights = np.zeros(COUNTS["paper"])
    weights[[4, 7]] = 1
    negatives = gm.LinkNegatives("binary", dst_weight=weights, strict=False)
    loader = make_loader(
        ds,
        WRITES,
        (sources, destinations),
        edge_label=labels,
        neg_sampling=negatives,
        ids="internal",
    )
    for batch in loader:
        count = batch.num_links
        np.testing.assert_array_equal(batch.edge_label[:count], labels[batch.input_ids] + 1)
        papers = np.asarray(batch.nodes["paper"])[batch.edge_label_index[1, count:]]
        assert set(papers.tolist()) <= {4, 7}


REFUSED = {
    "no relation": ((("paper", "writes", "author"), [[0], [0]]), ValueError, "no relation"),
    "none": (None, TypeError, "edge_label_index must be a relation and its links"),
    "links alone": ([[0, 1], [2, 3]], TypeError, "must be a relation and its links"),
    "whose ids": ((WRITES, [[0], [0]]), errors.IdError, "ids='external'"),
    "a type": ("author", TypeError, "must be a relation"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said(ds, case):
    links, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        gm.LinkNeighborLoader(ds, [2], edge_label_index=links)


def test_ends_of_the_wrong_types_are_refused(ds):
    authors, papers = links_of(ds, WRITES, 3)
    with pytest.raises(errors.IdError, match="nodes of another dataset"):
        gm.LinkNeighborLoader(ds, [2], edge_label_index=(WRITES, (papers, authors)))
    # Paper 899 exists, author 899 does not.
    with pytest.raises(errors.IdError, match="899"):
        gm.LinkNeighborLoader(ds, [2], edge_label_index=(WRITES, [[899], [0]]), ids="internal")
    with pytest.raises(ValueError, match="2 sources for 1 destinations"):
        gm.LinkNeighborLoader(ds, [2], edge_label_index=(WRITES, ([0, 1], [0])), ids="internal")
    with pytest.raises(ValueError, match="time_of='nodes' needs edge_label_time="):
        gm.LinkNeighborLoader(ds, [2], edge_label_index=WRITES, time_of="nodes")
