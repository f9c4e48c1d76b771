"""What all tests share: where campaigns get their length from, and files to work on."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess

import hypothesis
import numpy as np
import pytest
from feature_data import feature_rows
from loader_data import make_datasets
from run_mode import IS_LONG
from source_samples import DST, SIDES, SRC
from typed_loader_data import make_typed

import graphmount as gm

hypothesis.settings.register_profile(
    "graphmount",
    max_examples=2000 if IS_LONG else 50,
    deadline=None,  # the machines that run this are noisy
    suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
    ],
)
hypothesis.settings.load_profile("graphmount")


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory):
    """No test writes to the cache of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHMOUNT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def one_thread():
    """Torch computes in one thread: where batches are small and cores busy, threads only spin."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt: Ray Train leaves a handler of its own, which ends all."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def campaign():
    """Scales the length of a campaign: campaign(short, long)."""
    return lambda short, long: long if IS_LONG else short


@pytest.fixture
def graph_path(tmp_path):
    """A directed graph of 50 nodes with everything a graph file can have."""
    generator = np.random.default_rng(0)
    src, dst = generator.integers(0, 50, (2, 300))
    path = tmp_path / "graph.gl"
    gm.compile_graph(
        (src, dst),
        path,
        weights=generator.random(300),
        timestamps=generator.integers(0, 1000, 300),
        node_ids=[f"node-{i * 7919 % 50}" for i in range(50)],
        source_rows=True,
    )
    return path


@pytest.fixture
def features_path(tmp_path):
    """Float32 features of 100 rows and 24 columns; row i is i, i + 0.5, i + 1, …"""
    path = tmp_path / "features.gd"
    gm.compile_features(feature_rows(np.arange(100)), path)
    return path


@pytest.fixture
def small_disk(tmp_path, request):
    """A file system of 1 MiB, or what a parameter says, where the test may mount one."""
    size = getattr(request, "param", "1m")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    command = [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607


@pytest.fixture
def check_graph(tmp_path):
    """Compiles a source and compares the file, byte by byte, with that made of the arrays."""

    def check(source, *, sides=(), expected=(SRC, DST), expect=None, **options):
        made, wanted = tmp_path / "made.gl", tmp_path / "wanted.gl"
        report = gm.compile_graph(source, made, **options)
        of_arrays = {name: SIDES[name] for name in sides} | (expect or {})
        gm.compile_graph(expected, wanted, **of_arrays)
        assert made.read_bytes() == wanted.read_bytes()
        assert gm.verify(made).ok
        return report

    return check


@pytest.fixture(scope="session")
def walk_graphs(tmp_path_factory):
    """Small graphs of all kinds, with multi-edges, loops, dead ends and a weight of 0."""
    folder = tmp_path_factory.mktemp("walks")
    generator = np.random.default_rng(11)
    src, dst = (generator.random((2, 70)) ** 1.7 * 14).astype(np.int64)
    src = np.append(src, [3, 3, 3, 5, 5, 0])
    dst = np.append(dst, [4, 4, 4, 5, 5, 0])
    weights = generator.random(len(src)) * 3
    weights[::9] = 0
    times = generator.integers(0, 1000, len(src))
    kinds = {
        "directed": {},
        "undirected": {"directed": False},
        "weighted": {"weights": weights},
        "undirected, weighted": {"directed": False, "weights": weights},
        "temporal": {"timestamps": times, "weights": weights},
        "wide": {"weights": weights, "index_dtype": "int64"},
    }
    found = {}
    for name, options in kinds.items():
        path = folder / f"{name}.gl"
        gm.compile_graph((src, dst), path, num_nodes=17, **options)
        found[name] = gm.Graph(path)
    return found


@pytest.fixture(scope="session")
def loader_folder(tmp_path_factory):
    """The datasets "hot" and "given" of loader_data."""
    folder = tmp_path_factory.mktemp("datasets")
    make_datasets(folder)
    return folder


@pytest.fixture(scope="session")
def typed_folder(tmp_path_factory):
    """The dataset of typed_loader_data, as "hot" and "given"."""
    folder = tmp_path_factory.mktemp("typed")
    for order in ("hot", "given"):
        make_typed(folder / order, order)
    return folder


@pytest.fixture(params=["one kind", "many kinds"])
def any_folder(request):
    """Datasets "hot" and "given" of one kind of nodes, and of many."""
    kinds = {"one kind": "loader_folder", "many kinds": "typed_folder"}
    return request.getfixturevalue(kinds[request.param])


@pytest.fixture(params=["hot", "given"])
def dataset(loader_folder, request):
    """Each of them, mounted."""
    return gm.Dataset(loader_folder / request.param)
