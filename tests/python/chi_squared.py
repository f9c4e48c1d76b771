"""The chi-squared test, for seeds that are fixed: it fails for ever, or never."""

from __future__ import annotations

import numpy as np
from scipy import stats


def fits(counts, probabilities, *, significance=1e-6):
    """Whether counts may come from a distribution.

    Entries of probability 0 must not occur. Rare ones are taken together, so that the test holds.
    """
    counts = np.asarray(counts, np.float64).ravel()
    probabilities = np.asarray(probabilities, np.float64).ravel()
    assert counts.shape == probabilities.shape
    assert abs(probabilities.sum() - 1) < 1e-9
    if counts[probabilities == 0].any():
        return False
    expected = probabilities * counts.sum()
    is_rare = expected < 10
    seen = np.append(counts[~is_rare], counts[is_rare].sum())
    expected = np.append(expected[~is_rare], expected[is_rare].sum())
    if expected[-1] == 0:
        seen, expected = seen[:-1], expected[:-1]
    if len(seen) < 2:
        return True
    return bool(stats.chisquare(seen, expected).pvalue > significance)


def assert_fits(counts, probabilities, *, significance=1e-6):
    assert fits(counts, probabilities, significance=significance)
