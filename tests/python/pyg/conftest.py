"""What tests of `graphmount.pyg` share: datasets, made once."""

from __future__ import annotations

import pytest
from pyg_datasets import make_kinds


@pytest.fixture(scope="session")
def datasets(tmp_path_factory):
    """A dataset of each kind of `pyg_datasets`."""
    return make_kinds(tmp_path_factory.mktemp("pyg"))


@pytest.fixture
def dataset(datasets):
    return datasets["directed"]
