"""The chi-squared test, for seeds that are fixed: it fails for ever, or never."""

from __future__ import annotations

import numpy as np
from scipy import stats


def fits(counts, probabilities, *, significance=1e-6):
    """False if counts like these come up with a probability below `significance`, or never.

    Probabilities need not add up to 1. Rare outcomes are taken together, so that the test holds.
    """
    counts = np.ravel(counts).astype(float)
    probabilities = np.ravel(probabilities).astype(float)
    assert counts.shape == probabilities.shape
    if counts[probabilities == 0].any():
        return False
    expected = probabilities / probabilities.sum() * counts.sum()
    is_rare = expected < 10
    seen = np.append(counts[~is_rare], counts[is_rare].sum())
    expected = np.append(expected[~is_rare], expected[is_rare].sum())
    if expected[-1] == 0:
        seen, expected = seen[:-1], expected[:-1]
    assert len(seen) > 1 or np.count_nonzero(probabilities) == 1, "too few draws for this test"
    statistic = ((seen - expected) ** 2 / expected).sum()
    freedom = len(seen) - 1
    return freedom == 0 or bool(stats.chi2.sf(statistic, freedom) >= significance)


def assert_fits(counts, probabilities, *, significance=1e-6):
    assert fits(counts, probabilities, significance=significance), (
        f"{np.ravel(counts)} does not fit {np.ravel(probabilities)}"
    )
