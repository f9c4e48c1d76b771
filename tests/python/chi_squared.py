"""Whether counts are what probabilities make of them: Pearson's chi-squared test."""

from __future__ import annotations

import numpy as np
from scipy import stats


def fits(counts, probabilities, *, significance=1e-6):
    """False if counts like these come up with a probability below `significance`, or never.

    Probabilities need not add up to 1. There must be enough draws: five for each possible outcome.
    """
    counts = np.ravel(counts).astype(float)
    probabilities = np.ravel(probabilities).astype(float)
    possible = probabilities > 0
    if counts[~possible].any():
        return False
    expected = probabilities[possible] / probabilities.sum() * counts.sum()
    assert expected.min() >= 5, "too few draws for this test"
    statistic = ((counts[possible] - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    return freedom == 0 or bool(stats.chi2.sf(statistic, freedom) >= significance)


def assert_fits(counts, probabilities, *, significance=1e-6):
    assert fits(counts, probabilities, significance=significance), (
        f"{np.ravel(counts)} does not fit {np.ravel(probabilities)}"
    )
