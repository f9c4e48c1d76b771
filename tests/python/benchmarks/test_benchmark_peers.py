"""Peers of benchmarks: found or made where they belong, and checked before they are timed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from run_mode import IS_SANITIZED

pytestmark = [
    pytest.mark.skipif(IS_SANITIZED, reason="starts processes of other libraries"),
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
]

contract = pytest.importorskip("graphmount.benchmarks.peers.contract")
environments = pytest.importorskip("graphmount.benchmarks.peers.environments")
recipes = pytest.importorskip("graphmount.benchmarks.peers.recipes")

FANOUTS = (3, 2)


def run_main(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graphmount.benchmarks.peers", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def fake_recipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A peer that is nowhere, made by three calls of pip."""
    recipe = recipes.Recipe(
        name="fake",
        about="no library",
        modules=("no_such_module_anywhere",),
        steps=(
            recipes.Step(packages=("one==1",), alone=True),
            recipes.Step(packages=("two==2",), cuda_only=True),
            recipes.Step(packages=("three==3",)),
        ),
        size=1,
    )
    monkeypatch.setitem(recipes.RECIPES, "fake", recipe)
    return recipe


class FakePip:
    """Notes commands instead of running them; makes an interpreter where one is made."""

    def __init__(self, *, needs_cuda: bool = False, fails_at: str = "") -> None:
        self.commands: list[list[str]] = []
        self._needs_cuda, self._fails_at = needs_cuda, fails_at

    def run(self, _name: str, command: list[str], _say: Any) -> None:
        self.commands.append(command)
        if command[1:3] == ["-m", "venv"]:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
        if self._fails_at and self._fails_at in command:
            raise environments.CannotMakeError("ERROR: No matching distribution found")

    def ask(self, _place: Path, code: str) -> str:
        if "nvidia" in code:
            return f"{self._needs_cuda}\n"
        return '{"one": "1"}' if "versions" in code or "json" in code else ""

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environments, "_run", self.run)
        monkeypatch.setattr(environments, "_ask", self.ask)


def test_what_can_be_imported_runs_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = recipes.Recipe(name="here", about="NumPy", modules=("numpy",))
    monkeypatch.setitem(recipes.RECIPES, "here", here)
    peer = environments.find("here", tmp_path)
    assert peer.python == sys.executable
    assert peer.versions["numpy"] == np.__version__


@pytest.mark.usefixtures("fake_recipe")
@pytest.mark.parametrize("needs_cuda", [False, True])
def test_an_environment_is_made_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, needs_cuda: bool
) -> None:
    pip, said = FakePip(needs_cuda=needs_cuda), []
    pip.install(monkeypatch)
    assert environments.find("fake", tmp_path) is None
    peer = environments.make("fake", tmp_path, say=said.append)
    assert peer.python == str(tmp_path / "fake" / "bin" / "python")
    assert peer.versions == {"one": "1"}
    installed = [command[-1] for command in pip.commands[1:]]
    assert installed == ["one==1", *(["two==2"] if needs_cuda else []), "three==3"]
    assert "--no-deps" in pip.commands[1]
    assert "--no-deps" not in pip.commands[-1]
    assert "1 MB" in said[0]
    count = len(pip.commands)
    assert environments.find("fake", tmp_path) == peer
    assert environments.make("fake", tmp_path, say=said.append) == peer
    assert len(pip.commands) == count


def test_an_environment_of_another_recipe_does_not_count(
    fake_recipe: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    FakePip().install(monkeypatch)
    environments.make("fake", tmp_path, say=lambda _: None)
    newer = recipes.Recipe(
        name="fake",
        about=fake_recipe.about,
        modules=fake_recipe.modules,
        steps=(recipes.Step(packages=("one==1.1",)),),
    )
    monkeypatch.setitem(recipes.RECIPES, "fake", newer)
    assert environments.find("fake", tmp_path) is None


@pytest.mark.usefixtures("fake_recipe")
def test_half_an_environment_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FakePip(fails_at="three==3").install(monkeypatch)
    with pytest.raises(environments.CannotMakeError, match="No matching distribution") as caught:
        environments.make("fake", tmp_path, say=lambda _: None)
    assert "Is there a network" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("fake_recipe")
def test_what_pip_really_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(environments.CannotMakeError, match="No matching distribution found"):
        environments.make("fake", tmp_path / "peers", say=lambda _: None)
    assert list((tmp_path / "peers").iterdir()) == []


def test_the_folder_is_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert environments.default_folder() == Path("/somewhere/graphmount/peers")
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert environments.default_folder() == Path.home() / ".cache/graphmount/peers"


def test_another_python_is_taken_where_there_are_no_wheels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = recipes.Recipe(name="old", about="", modules=(), pythons=("2.7", "2.6"))
    found = {"python2.6": "/usr/bin/python2.6"}
    monkeypatch.setattr(environments.shutil, "which", found.get)
    assert environments.python_for(old) == "/usr/bin/python2.6"
    found.clear()
    with pytest.raises(environments.CannotMakeError, match=r"wheels for Python 2\.7, 2\.6 only"):
        environments.python_for(old)
    assert environments.python_for(recipes.RECIPES["graphzero"]) == sys.executable


def test_reasons_say_what_to_do() -> None:
    assert "benchmarks.peers graphbolt` makes" in environments.why_missing("graphbolt")
    assert "not on PyPI" in environments.why_missing("pyg-lib")
    with pytest.raises(environments.CannotMakeError, match="there are graphbolt, pyg"):
        environments.find("nothing")


def test_the_command_shows_what_it_would_do(tmp_path: Path) -> None:
    run = run_main("graphbolt", "--dry-run", "--folder", str(tmp_path))
    if "none of them is on the PATH" in run.stderr:
        pytest.skip(run.stderr)
    assert run.returncode == 0, run.stderr
    assert "-m venv" in run.stdout
    assert "--no-deps torch==2.2.1" in run.stdout
    assert list(tmp_path.iterdir()) == []
    run = run_main("nothing")
    assert run.returncode == 1
    assert "there is no peer 'nothing'" in run.stderr


def test_the_command_says_what_pip_cannot_make(tmp_path: Path) -> None:
    if environments.find("pyg-lib", tmp_path) is not None:
        pytest.skip("pyg-lib is installed here")
    run = run_main("pyg-lib", "--folder", str(tmp_path))
    assert run.returncode == 1
    assert "not on PyPI" in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_lists_peers(tmp_path: Path) -> None:
    run = run_main("--folder", str(tmp_path))
    assert run.returncode == 0
    assert [line.split()[0] for line in run.stdout.splitlines()] == list(recipes.RECIPES)


# The contract of samples.


def small_lists(seed: int, num_nodes: int = 40) -> Any:
    generator = np.random.default_rng(seed)
    degrees = generator.integers(0, 7, num_nodes)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    return contract.Lists(indptr, generator.integers(0, num_nodes, indptr[-1]))


def plain_sample(lists: Any, seeds: Any, expands: str, seed: int) -> list[Any]:
    """A sample that keeps the contract, node by node."""
    generator = np.random.default_rng(seed)
    met = list(dict.fromkeys(seeds.tolist()))
    frontier, hops = met.copy(), []
    for fanout in FANOUTS:
        nodes, neighbors = [], []
        for node in frontier:
            first, end = lists.indptr[node : node + 2]
            count = min(fanout, end - first)
            for place in generator.choice(end - first, count, replace=False) + first:
                nodes.append(node)
                neighbors.append(int(lists.indices[place]))
        fresh = [node for node in dict.fromkeys(neighbors) if node not in met]
        met += fresh
        frontier = fresh if expands == "new" else met.copy()
        hops.append(contract.Hop(np.array(nodes, np.int64), np.array(neighbors, np.int64)))
    return hops


@hypothesis.given(seed=st.integers(0, 1 << 30), expands=st.sampled_from(["new", "all"]))
def test_right_samples_pass(seed: int, expands: str) -> None:
    lists, seeds = small_lists(seed), np.random.default_rng(seed).permutation(40)[:5]
    hops = plain_sample(lists, seeds, expands, seed)
    assert contract.problems_of(lists, seeds, FANOUTS, hops, expands) == []


def changed(hops: list[Any], hop: int, nodes: Any, neighbors: Any) -> list[Any]:
    return [*hops[:hop], contract.Hop(np.array(nodes), np.array(neighbors)), *hops[hop + 1 :]]


def test_wrong_samples_do_not() -> None:
    # 0 has 1, 2, 3, 4; 1 has 0 and 5; the others have nothing.
    lists = contract.Lists(np.array([0, 4, 6, 6, 6, 6, 6]), np.array([1, 2, 3, 4, 0, 5]))
    seeds = np.array([0])
    right = [
        contract.Hop(np.array([0, 0, 0]), np.array([1, 2, 4])),
        contract.Hop(np.array([1, 1]), np.array([0, 5])),
    ]

    def problems(hops: list[Any], expands: str = "new") -> str:
        return "; ".join(contract.problems_of(lists, seeds, FANOUTS, hops, expands))

    assert problems(right) == ""
    assert "does not have" in problems(changed(right, 0, [0, 0, 0], [1, 2, 5]))
    assert "more often" in problems(changed(right, 0, [0, 0, 0], [1, 1, 2]))
    assert "min(degree, 3)" in problems(changed(right, 0, [0, 0], [1, 2]))
    assert "min(degree, 3)" in problems(changed(right, 0, [0] * 4, [1, 2, 3, 4]))
    assert "should not" in problems(changed(right, 1, [1, 1, 0], [0, 5, 3]))
    assert "graph of 6" in problems(changed(right, 1, [1, 1], [0, 6]))
    assert "2 nodes have 1" in problems(changed(right, 1, [1, 1], [0]))
    assert problems(right[:1]) == "1 hops instead of 2"
    # Who samples all nodes again does not keep the contract of who does not.
    again = changed(right, 1, [0, 0, 1, 1], [3, 4, 0, 5])
    assert "should not" in problems(again)
    assert problems(again, "all") == ""
    assert "min(degree, 2)" in problems(right, "all")
