"""That draws have the distributions they should have, by the chi-squared test at fixed seeds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chi_squared import assert_fits, fits

import graphmount as gm

MANY = 60_000


@pytest.fixture
def star(tmp_path):
    """Makes a graph whose node 0 has neighbors 1 … degree."""

    def make(degree, weights=None, timestamps=None):
        path = tmp_path / "star.gl"
        edges = (np.arange(1, degree + 1), np.zeros(degree, np.int64))
        gm.compile_graph(edges, path, weights=weights, timestamps=timestamps)
        return gm.Graph(path)

    return make


def draw(g, k, count=MANY, **options):
    return g.batch_random_fanout(np.zeros(count, np.int64), k, seed=11, **options) - 1


def sets_of(rows, degree):
    """How often each set of neighbors was drawn, by the order of `itertools.combinations`."""
    order = {
        choice: i for i, choice in enumerate(itertools.combinations(range(degree), rows.shape[1]))
    }
    counts = np.zeros(len(order))
    for row in np.sort(rows, axis=1).tolist():
        counts[order[tuple(row)]] += 1
    return counts


@pytest.mark.parametrize(("degree", "k"), [(2, 1), (5, 2), (6, 3), (7, 5), (20, 2), (70, 2)])
def test_sets_without_replacement_are_equally_likely(star, degree, k):
    counts = sets_of(draw(star(degree), k), degree)
    assert_fits(counts, np.full(len(counts), 1 / len(counts)))


@pytest.mark.parametrize(
    ("degree", "k"), [(7, 5), (40, 15), (100, 15), (100, 20), (100, 60), (5000, 3)]
)
def test_every_column_without_replacement_is_uniform(star, degree, k):
    rows = draw(star(degree), k)
    for column in {0, k // 2, k - 1}:
        assert_fits(np.bincount(rows[:, column], minlength=degree), np.full(degree, 1 / degree))
    assert_fits(np.bincount(rows.ravel(), minlength=degree), np.full(degree, 1 / degree))


def test_pairs_of_columns_with_replacement_are_independent(star):
    rows = draw(star(7), 4, replace=True)
    for one, other in itertools.combinations(range(4), 2):
        counts = np.bincount(rows[:, one] * 7 + rows[:, other], minlength=49)
        assert_fits(counts, np.full(49, 1 / 49))


def test_rows_are_independent(star):
    rows = draw(star(7), 1)[:, 0]
    for gap in (1, 2, 1024):
        counts = np.bincount(rows[:-gap] * 7 + rows[gap:], minlength=49)
        assert_fits(counts, np.full(49, 1 / 49))


def test_the_remainder_of_a_short_list_is_uniform(star):
    rows = draw(star(5), 7)
    assert (np.sort(rows[:, :5], axis=1) == np.arange(5)).all()
    counts = sets_of(rows[:, 5:], 5)
    assert_fits(counts, np.full(len(counts), 1 / len(counts)))


WEIGHTS = np.array([0.0, 1.0, 2.0, 3.0, 0.0, 10.0])


def test_weighted_with_replacement(star):
    counts = np.bincount(
        draw(star(6, WEIGHTS), 3, replace=True, weighted=True).ravel(), minlength=6
    )
    assert_fits(counts, WEIGHTS / WEIGHTS.sum())


def successive(weights, k):
    """The probability of each sequence of k picks, each taken out before the next."""
    chances = {}
    for choice in itertools.permutations(range(len(weights)), k):
        chance, left = 1.0, weights.sum()
        for pick in choice:
            chance *= weights[pick] / left
            left -= weights[pick]
        chances[choice] = chance
    return chances


def check_sequences(rows, weights, k):
    chances = successive(weights, k)
    order = {choice: i for i, choice in enumerate(chances)}
    counts = np.zeros(len(order))
    for row in rows.tolist():
        counts[order[tuple(row)]] += 1
    assert_fits(counts, np.array(list(chances.values())))


def test_weighted_without_replacement_by_keys(star):
    check_sequences(draw(star(6, WEIGHTS), 3, weighted=True), WEIGHTS, 3)


def test_weighted_without_replacement_by_alias(star):
    """A long list, of which few are picked; skewed, so that the draws often are in vain."""
    weights = np.array([100.0, 10.0, 5.0, *[1.0] * 9, 0.0])
    check_sequences(draw(star(13, weights), 2, weighted=True), weights, 2)


def test_weighted_without_replacement_by_both(star):
    """One neighbor has nearly all the weight, so that keys must finish what draws began."""
    weights = np.array([1e6, *[1.0] * 19])
    rows = draw(star(20, weights), 3, weighted=True)
    others = np.bincount(rows[:, 1], minlength=20)
    chances = np.array([0.0, *[1 / 19] * 19])
    first_is_heavy = rows[:, 0] == 0
    assert first_is_heavy.mean() > 0.999
    assert_fits(np.bincount(rows[first_is_heavy, 1], minlength=20), chances)
    assert_fits(np.bincount(rows[first_is_heavy, 2], minlength=20), chances)
    assert others[0] <= (~first_is_heavy).sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_in_time(star, weighted, replace):
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    g = star(6, weights, timestamps=[4, 1, 3, 2, 6, 5])
    seeds = np.zeros(20_000, np.int64)
    sample = g.sample_neighbors(
        seeds, [2], time=seeds + 4, weighted=weighted, replace=replace, seed=5
    )
    drawn = (sample.nodes[sample.row] - 1).reshape(-1, 2)
    chances = (weights if weighted else np.ones(6)) * (np.array([4, 1, 3, 2, 6, 5]) <= 4)
    chances /= chances.sum()
    if replace:
        assert_fits(np.bincount(drawn.ravel(), minlength=6), chances)
    elif weighted:
        check_sequences(drawn, np.where(chances > 0, weights, 0.0), 2)
    else:
        for column in range(2):
            assert_fits(np.bincount(drawn[:, column], minlength=6), chances)


def test_hops_and_seeds_are_independent(star):
    """The same node in one hop and the next, in one tree and another, draws anew."""
    size = 6
    g = star(size)
    loop = np.arange(size + 1)
    gm.compile_graph((np.repeat(loop, size + 1), np.tile(loop, size + 1)), g.path)
    g = gm.Graph(g.path)
    seeds = np.zeros(10_000, np.int64)
    sample = g.sample_neighbors(seeds, [1, 1], disjoint=True, seed=8)
    first = sample.nodes[sample.row[: sample.num_sampled_edges[0]]]
    moved = first != 0  # the others are no new nodes, and draw nothing
    second = sample.nodes[sample.row[sample.num_sampled_edges[0] :]]
    counts = np.bincount(first[moved] * (size + 1) + second, minlength=(size + 1) ** 2)
    chances = np.full((size + 1, size + 1), 1 / (size * (size + 1)))
    chances[0] = 0
    assert_fits(counts, chances)


def test_a_biased_sampler_fails(star):
    """The tests above can fail: these are mistakes that samplers make."""
    generator = np.random.default_rng(1)
    degree, k = 40, 5
    even = np.full(degree, 1 / degree)

    def floyd():  # the sets are right, but not the order
        picks = []
        for j in range(degree - k, degree):
            t = generator.integers(0, j + 1)
            picks.append(int(j if t in picks else t))
        return picks

    rows = np.array([floyd() for _ in range(20_000)])
    assert fits(np.bincount(rows.ravel(), minlength=degree), even)
    assert not fits(np.bincount(rows[:, -1], minlength=degree), even)

    first_ones = np.minimum(generator.geometric(0.5, MANY) - 1, 6)  # "every second entry"
    assert not fits(np.bincount(first_ones, minlength=7), np.full(7, 1 / 7))
    modulo = generator.integers(0, 256, MANY) % 100  # the remainder of a byte
    assert not fits(np.bincount(modulo, minlength=100), np.full(100, 1 / 100))
    with_replacement = np.sort(generator.integers(0, 20, (MANY, 2)), axis=1)
    distinct = with_replacement[with_replacement[:, 0] < with_replacement[:, 1]]
    padded = np.concatenate([distinct, np.tile([[0, 1]], (MANY - len(distinct), 1))])
    counts = sets_of(padded, 20)
    assert not fits(counts, np.full(len(counts), 1 / len(counts)))
    halves = draw(star(6, WEIGHTS), 1, weighted=True)[:, 0]
    assert not fits(np.bincount(halves, minlength=6), (WEIGHTS > 0) / 4)
