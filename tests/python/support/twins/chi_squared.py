"""Whether counts look like draws by given probabilities: Pearson's chi-squared test.

Tests draw with fixed seeds, so that a result is right or wrong for good, and the significance only
says how unlucky the choice of a seed may be.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

#: Cells that expect fewer are pooled: the distribution holds for cells that are not too small.
LEAST_EXPECTED = 5.0


def p_value(counts, probabilities):
    """The probability of counts at least as far from what is expected.

    Probabilities need not be normalised. What cannot be, and was counted all the same, gives 0.
    """
    counts = np.asarray(counts, dtype=np.float64).ravel()
    weights = np.asarray(probabilities, dtype=np.float64).ravel()
    assert counts.shape == weights.shape
    assert counts.sum() > 0
    assert (weights >= 0).all()
    if counts[weights == 0].any():
        return 0.0
    expected = weights / weights.sum() * counts.sum()
    is_small = expected < LEAST_EXPECTED
    counts = np.append(counts[~is_small], counts[is_small].sum())
    expected = np.append(expected[~is_small], expected[is_small].sum())
    if expected[-1] < LEAST_EXPECTED:  # the pool itself is too small, or empty: with the largest
        largest = expected[:-1].argmax()
        counts[largest] += counts[-1]
        expected[largest] += expected[-1]
        counts, expected = counts[:-1], expected[:-1]
    if len(counts) < 2:
        return 1.0
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(counts) - 1))


def fits(counts, probabilities, *, significance=1e-6):
    """Whether the counts may well be draws by these probabilities."""
    return p_value(counts, probabilities) >= significance


def assert_fits(counts, probabilities, *, significance=1e-6):
    """Fails unless the counts may well be draws by these probabilities."""
    found = p_value(counts, probabilities)
    total, weights = np.sum(counts), np.asarray(probabilities, dtype=np.float64)
    assert found >= significance, (
        f"p-value {found:.3g}: counted {np.asarray(counts).tolist()}, "
        f"expected {(weights / weights.sum() * total).round(1).tolist()}"
    )
