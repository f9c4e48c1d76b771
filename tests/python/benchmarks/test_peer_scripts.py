"""The scripts that run peers: what they do is right, and turns end when they should."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm

pytestmark = [
    pytest.mark.skipif(IS_SANITIZED, reason="starts processes of other libraries"),
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
]

contract = pytest.importorskip("graphmount.benchmarks.peers.contract")
environments = pytest.importorskip("graphmount.benchmarks.peers.environments")
trial = pytest.importorskip("graphmount.benchmarks.peers.trial")

SCRIPTS = Path(environments.__file__).parent / "scripts"
FANOUTS = (3, 2)


def write_inputs(folder: Path) -> Any:
    generator = np.random.default_rng(0)
    gm.compile_graph(
        generator.integers(0, 300, (2, 3000)), folder / "graph.gl", neighbors="in", num_nodes=300
    )
    views = gm.Graph(folder / "graph.gl").neighbor_lists("in")
    lists = contract.Lists(np.array(views.indptr), np.array(views.indices))
    np.save(folder / "indptr.npy", lists.indptr)
    np.save(folder / "indices.npy", lists.indices)
    seeds = np.stack([generator.permutation(300)[:20] for _ in range(4)])
    np.save(folder / "seeds.npy", seeds)
    np.save(folder / "train.npy", seeds.ravel())
    np.save(folder / "fanouts.npy", np.array(FANOUTS))
    np.save(folder / "features.npy", np.arange(300 * 4, dtype=np.float32).reshape(300, 4))
    return lists


def peer_or_skip(name: str) -> Any:
    peer = environments.find(name)
    if peer is None:
        pytest.skip(environments.why_missing(name))
    return peer


def try_or_skip(command: list[str]) -> Any:
    try:
        return trial.try_script(command)
    except trial.CannotError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("name", "script", "expands"),
    [
        ("graphmount", "sample_graphmount", "new"),
        ("graphbolt", "sample_graphbolt", "all"),
        ("pyg", "sample_pyg", "new"),
        ("pyg-lib", "sample_pyg", "new"),
    ],
)
def test_peers_sample(tmp_path: Path, name: str, script: str, expands: str) -> None:
    lists = write_inputs(tmp_path)
    is_ours = name == "graphmount"
    peer = environments.Peer(name, sys.executable) if is_ours else peer_or_skip(name)
    command = trial.script_command(peer, script, str(tmp_path))
    shown = try_or_skip(command).shown
    hops = [contract.Hop(shown[f"nodes{hop}"], shown[f"neighbors{hop}"]) for hop in range(2)]
    seeds = np.load(tmp_path / "seeds.npy")[0]
    assert contract.problems_of(lists, seeds, FANOUTS, hops, expands) == []
    other = "all" if expands == "new" else "new"
    assert contract.problems_of(lists, seeds, FANOUTS, hops, other) != []
    turns = play_script(command)
    assert turns[-1]["steps"] > 0
    assert turns[0]["edges_per_batch"] > 20


@pytest.mark.parametrize(
    ("name", "script"),
    [("graphbolt", "load_graphbolt"), ("pyg", "load_pyg"), ("pyg-lib", "load_pyg")],
)
def test_peers_load(tmp_path: Path, name: str, script: str) -> None:
    write_inputs(tmp_path)
    command = trial.script_command(peer_or_skip(name), script, str(tmp_path), "--batch", "20")
    shown = try_or_skip(command).shown
    expected = np.load(tmp_path / "features.npy")[shown["nodes"]]
    np.testing.assert_array_equal(shown["rows"], expected)
    assert play_script(command)[-1]["rows_per_batch"] >= 20


def test_pyg_without_a_sampler_says_so(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    peer = peer_or_skip("pyg")
    command = [
        peer.python,
        "-c",
        "import torch_geometric.typing as t; print(t.WITH_PYG_LIB, t.WITH_TORCH_SPARSE)",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    if "True" in run.stdout:
        pytest.skip("PyG has a sampler here")
    with pytest.raises(trial.CannotError, match="requires either 'pyg-lib' or 'torch-sparse'"):
        trial.try_script(trial.script_command(peer, "sample_pyg", str(tmp_path)))


@pytest.mark.parametrize("num_seeds", [1, 20, 300])
def test_hops_of_pyg_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_seeds: int
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from sample_pyg import split_hops  # type: ignore[import-not-found,unused-ignore]

    write_inputs(tmp_path)
    # Ours comes in the same order as PyG's, and says itself where hops end.
    graph = gm.Graph(tmp_path / "graph.gl")
    sample = graph.sample_neighbors(np.arange(num_seeds), (3, 2, 2, 1), seed=1)
    shown = split_hops(sample.nodes, sample.row, sample.col, num_seeds=num_seeds, num_hops=4)
    ends = np.cumsum(sample.num_sampled_edges)
    for hop, (first, end) in enumerate(zip([0, *ends], ends, strict=False)):
        np.testing.assert_array_equal(shown[f"nodes{hop}"], sample.nodes[sample.col[first:end]])
        expected = sample.nodes[sample.row[first:end]]
        np.testing.assert_array_equal(shown[f"neighbors{hop}"], expected)


@pytest.mark.parametrize("way", ["take", "index", "index-random", "graphbolt"])
def test_peers_gather(tmp_path: Path, way: str) -> None:
    peers = pytest.importorskip("graphmount.benchmarks.cases.parts.gather_peers")
    patterns = pytest.importorskip("graphmount.benchmarks.data.patterns")
    patterns.write_npy(patterns.matrix(1 << 17), str(tmp_path / "x.npy"))
    ids = np.array([0, 5, 5, 250])
    np.save(tmp_path / "ids.npy", ids)
    is_numpy = way != "graphbolt"
    peer = environments.Peer("numpy", sys.executable) if is_numpy else peer_or_skip("graphbolt")
    command = trial.script_command(peer, "gather_rows", str(tmp_path / "x.npy"), "--way", way)
    command += ["--batch", "8", "--seconds", "0.01"]
    command += ["--check", str(tmp_path / "ids.npy"), str(tmp_path / "rows.npy")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["rows"] % 8 == 0
    rows = np.load(tmp_path / "rows.npy")
    assert peers.count_wrong(rows, ids) == 0
    rows[2, 7] += 1
    assert peers.count_wrong(rows, ids) == 1
    assert peers.count_wrong(rows[:3], ids) == 4


def test_wrong_rows_of_a_loader_are_counted() -> None:
    loaders = pytest.importorskip("graphmount.benchmarks.cases.bench_loader_peers")
    nodes = np.array([3, 1, 70_000])
    rows = loaders.features_of(nodes)
    shown = {"nodes": nodes, "rows": rows}
    assert loaders.count_wrong(SimpleNamespace(shown=shown)) == 0
    rows[1, 0] += 1
    assert loaders.count_wrong(SimpleNamespace(shown=shown)) == 1
    assert loaders.count_wrong(SimpleNamespace(shown=shown | {"rows": rows[:2]})) == 3


def test_batches_that_never_got_done_give_bounds() -> None:
    loaders = pytest.importorskip("graphmount.benchmarks.cases.bench_loader_peers")

    def outcome(speeds: list[float], steps: int, seconds: float) -> Any:
        turns = [{"batches_per_second": speed} for speed in speeds]
        return SimpleNamespace(turns=turns, summary={"steps": steps, "all_seconds": seconds})

    ours = outcome([10.0, 20.0], 60, 4.0)
    assert loaders.speed_of(ours).median == 15
    # None in 80 seconds is less than one in 80, and never less than that is.
    assert loaders.speed_of(outcome([0.0, 0.0], 0, 80.0)) == "< 0.013"
    assert loaders.times_of(ours, outcome([0.0, 0.0], 0, 80.06)) == "> 1,200"
    # One in the second turn took the time of both.
    assert loaders.speed_of(outcome([0.0, 0.5], 1, 4.0)) == 0.25
    assert loaders.times_of(ours, outcome([0.0, 0.5], 1, 4.0)) == 60
    assert loaders.times_of(ours, outcome([5.0, 5.0], 20, 4.0)).median == 3


def play_script(command: list[str], turns: int = 2, seconds: float = 0.05) -> list[dict[str, Any]]:
    """What a script says in its turns, and its summary."""
    given = f"0 {seconds}\n" * turns
    run = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(said) == turns + 1
    return said


def toy_script(tmp_path: Path, body: str) -> list[str]:
    path = tmp_path / "toy.py"
    path.write_text(
        f"import sys, time\nsys.path.insert(0, {str(SCRIPTS)!r})\nimport turn_loop\n"
        f"class Toy:\n    def __init__(self, options): pass\n    def step(self):\n{body}"
        "    def check(self): raise ImportError('this cannot be done')\n"
        "turn_loop.main(Toy)\n"
    )
    return [sys.executable, str(path), str(tmp_path)]


def test_a_turn_ends_within_a_step_that_goes_on_in_the_next(tmp_path: Path) -> None:
    # Processor time, since the clock on the wall runs on while a process is stopped.
    body = (
        "        end = time.process_time() + 1\n"
        "        while time.process_time() < end: pass\n"
        "        return {'rows': 7}\n"
    )
    command = [*toy_script(tmp_path, body), "--patience", "0.3"]
    start = time.monotonic()
    said = play_script(command, turns=1, seconds=0.1)
    assert said[0] == {"batches_per_second": 0.0}
    assert said[1]["steps"] == 0
    assert 0.3 <= said[1]["all_seconds"] <= time.monotonic() - start
    said = play_script(command, turns=30, seconds=0.1)
    done = [turn for turn in said[:-1] if turn["batches_per_second"]]
    assert done, "no step got done in thirty turns"
    assert said[-1]["steps"] == len(done)
    # The turns in which it was not done count as well.
    assert done[0]["seconds_per_batch"] >= 0.9
    assert done[0]["rows_per_batch"] == 7


def test_a_stopped_step_does_not_run(tmp_path: Path) -> None:
    body = (
        "        end = time.process_time() + 60\n"
        "        while time.process_time() < end: pass\n"
        "        return {}\n"
    )
    command = [*toy_script(tmp_path, body), "--patience", "0.1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("0 0.1\n")
        process.stdin.flush()
        process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        stat = Path(f"/proc/{children[0]}/stat").read_text()
        assert stat.rsplit(")", 1)[1].split()[0] == "T"
        process.stdin.close()
        assert json.loads(process.stdout.read())["steps"] == 0
    assert process.returncode == 0
    assert not Path(f"/proc/{children[0]}").exists()


def test_a_script_that_fails_says_so(tmp_path: Path) -> None:
    command = toy_script(tmp_path, "        raise ValueError('a broken toy')\n")
    run = subprocess.run(command, input="0 0.1\n", capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "a broken toy" in run.stderr
    with pytest.raises(trial.CannotError, match="this cannot be done"):
        trial.try_script(command)
    with pytest.raises(RuntimeError, match="failed"):
        trial.try_script([sys.executable, str(tmp_path / "nothing.py")])
