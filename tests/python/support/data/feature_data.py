"""The features that `features_path` (conftest) is made of, and the dtypes there are."""

from __future__ import annotations

import numpy as np

#: All dtypes that a file of features may have.
DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
]


def feature_rows(ids):
    """Rows as a function of their ids: row i is i, i + 0.5, i + 1, …"""
    return (np.asarray(ids)[:, None] + np.arange(24) / 2).astype(np.float32)
