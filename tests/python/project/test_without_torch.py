"""The core works without torch, PyG, Ray and GraphZero: in a process that has none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
for name in ("torch", "torch_geometric", "graphzero", "ray"):
    sys.modules[name] = None  # importing it raises an ImportError, as if it were not installed
"""

IMPORTS = """
import importlib, pkgutil
import graphmount as gm

refused = []
for module in pkgutil.walk_packages(gm.__path__, "graphmount.", onerror=lambda name: None):
    if module.name.endswith("__main__") or ".benchmarks" in module.name:
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        assert any(name in str(error) for name in ("torch", "PyG", "Ray")), (module.name, error)
        refused.append(module.name)
print(*refused)
"""

WORK = """
import numpy as np
import graphmount as gm

folder = sys.argv[1]
generator = np.random.default_rng(0)
edges = generator.integers(0, 200, (2, 2000))
x = generator.random((200, 3), dtype=np.float32)
gm.compile_dataset(
    folder, edges=(edges[0], edges[1]), features={"x": x}, labels=np.arange(200),
    splits={"train": np.arange(50)}, order="hot",
)
ds = gm.Dataset(folder)
known = set(map(tuple, edges.T.tolist()))

def check(nodes, row, col):
    outer = ds.to_external(nodes)
    assert set(zip(outer[row].tolist(), outer[col].tolist())) <= known

sample = ds.graph.sample_neighbors(ds.to_internal([0, 1, 2]), [5, 5], seed=1)
check(sample.nodes, sample.row, sample.col)
walk = ds.graph.random_walk(ds.to_internal([3]), 4, seed=1)
assert walk.shape == (1, 5)
met = 0
for batch in gm.NeighborLoader(ds, [4, 4], input_nodes="train", batch_size=20, memory="1MiB"):
    check(batch.nodes, batch.row, batch.col)
    outer = ds.to_external(batch.nodes)
    assert np.array_equal(batch.features["x"], x[outer])
    assert np.array_equal(batch.labels, outer[: batch.batch_size])
    met += batch.batch_size
for batch in gm.LinkNeighborLoader(ds, [2], neg_sampling="binary", batch_size=500):
    check(batch.nodes, batch.row, batch.col)
assert gm.verify(ds.graph.path).ok
print(met)
"""


def run(code, *arguments):
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_all_modules_but_those_for_torch_can_be_imported():
    refused = [name.removeprefix("graphmount.") for name in run(IMPORTS)]
    assert {"torch", "pyg", "ray"} <= set(refused)
    assert [name for name in refused if not name.startswith(("torch", "pyg", "ray"))] == []


def test_compile_mount_sample_and_load(tmp_path):
    assert run(WORK, tmp_path / "dataset") == ["50"]


@pytest.mark.parametrize("module", ["torch", "pyg", "ray"])
def test_what_needs_torch_says_how_to_get_it(module):
    code = f"""
try:
    import graphmount.{module}
except ImportError as error:
    print(error)
"""
    assert " ".join(run(code)).endswith(f"install it with: pip install 'graphmount[{module}]'")
