"""Opening, viewing and closing over and over: memory, mappings and descriptors stay."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from feature_data import feature_rows
from run_mode import IS_SANITIZED

import graphmount as gm


def one_round(graph_path, features_path, number):
    store = gm.FeatureStore(features_path, advice="random" if number % 2 else "normal")
    rows = store.numpy()[np.arange(number % 100, 100)]
    assert np.array_equal(rows[0], feature_rows([number % 100])[0])
    np.from_dlpack(store)
    with gm.Graph(graph_path) as graph:
        node = number % graph.num_nodes
        assert len(graph.neighbors(node)) == graph.degree([node])[0]
        assert graph.to_internal(graph.to_external([node])).tolist() == [node]
        graph.prefetch([node])
        for ids, error in (([-1], IndexError), ([0.5], TypeError)):
            try:
                graph.degree(ids)
            except error:
                pass
            else:
                raise AssertionError(ids)
    if number % 50 == 0:
        assert gm.verify(graph_path).ok
        gm.compile_features(feature_rows(np.arange(100)), features_path)
    with suppress(gm.errors.FormatError):
        gm.Graph(features_path)


def num_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_soak(graph_path, features_path, campaign):
    if IS_SANITIZED:
        pytest.skip("sanitizers keep freed memory")
    rounds = campaign(2000, 200_000)
    for number in range(500):
        one_round(graph_path, features_path, number)
    gc.collect()
    before = gm.memory().anonymous_bytes
    mappings = Path("/proc/self/maps").read_text().count("\n")
    descriptors = num_descriptors()
    for number in range(rounds):
        one_round(graph_path, features_path, number)
    gc.collect()
    assert gm.memory().anonymous_bytes - before < 4 << 20
    assert Path("/proc/self/maps").read_text().count("\n") - mappings < 20
    assert num_descriptors() - descriptors < 5
