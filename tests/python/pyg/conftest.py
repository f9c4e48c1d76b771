"""What tests of `graphmount.pyg` share: datasets, made once."""

from __future__ import annotations

import pytest
from pyg_datasets import make_kinds


@pytest.fixture(scope="session")
def datasets(tmp_path_factory):
    """A dataset of each kind of `pyg_datasets`."""
    return make_kinds(tmp_path_factory.mktemp("pyg"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAPHMOUNT_CACHE", str(folder))
    return folder


@pytest.fixture
def dataset(datasets):
    return datasets["directed"]
