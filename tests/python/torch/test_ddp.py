"""Loaders of several processes under torch.distributed: each takes its part, and none waits."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from run_mode import IS_SANITIZED

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch has no gloo here", allow_module_level=True)
from ddp_rank import EPOCHS, train  # noqa: E402
from torch import multiprocessing  # noqa: E402

pytestmark = pytest.mark.skipif(IS_SANITIZED, reason="new interpreters take too long")


CASES = list(itertools.product([257, 256, 3], [False, True]))


@pytest.fixture(scope="module")
def folder(loader_folder, tmp_path_factory):
    """What the ranks wrote down, case by case. Two processes do all: importing torch takes long."""
    out = tmp_path_factory.mktemp("ranks")
    options = [
        {
            "input_nodes": np.random.default_rng(num_seeds).permutation(3000)[:num_seeds],
            "ids": "external",
            "batch_size": 32,
            "shuffle": True,
            "drop_last": drop_last,
            "memory": "1MiB",
            "seed": 7,
        }
        for num_seeds, drop_last in CASES
    ]
    multiprocessing.spawn(train, (2, str(loader_folder / "hot"), str(out), options), nprocs=2)
    return out


@pytest.mark.parametrize("case", range(len(CASES)), ids=map(str, CASES))
def test_two_ranks(folder, case):
    num_seeds, drop_last = CASES[case]
    one, other = (json.loads((folder / f"{rank}.json").read_text())[case] for rank in range(2))
    assert one["parameters"] == other["parameters"]
    for epoch in range(EPOCHS):
        mine, others = one["seen"][epoch], other["seen"][epoch]
        assert [len(places) for places in mine] == [len(places) for places in others]
        share = num_seeds // 2 if drop_last else -(-num_seeds // 2)
        assert len(mine) == (share // 32 if drop_last else -(-share // 32))
        seen = sorted(place for batches in (mine, others) for batch in batches for place in batch)
        if drop_last:
            assert len(seen) == len(set(seen)) == 2 * 32 * len(mine)
        else:
            assert set(seen) == set(range(num_seeds))
            assert len(seen) == num_seeds + num_seeds % 2  # an odd one comes twice
    if num_seeds > 3:
        assert one["seen"][0] != one["seen"][1], "epochs have orders of their own"
