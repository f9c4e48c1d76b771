"""Where a peer runs: here if it can be imported, else in a virtual environment made on request.

An environment lies in a cache folder of the user, outside every clone, and counts only when it is
complete: a file in it, written last, says what was installed. One that was made half is removed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .recipes import RECIPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recipes import Recipe, Step

_READY = "graphmount-peer.json"
_LAST_WORDS = 12  # lines of pip that say why it failed
_VERSIONS = (
    "import importlib.metadata as m, json; "
    "print(json.dumps({d.name.lower(): d.version for d in m.distributions()}))"
)
_NEEDS_CUDA = (
    "import importlib.metadata as m; "
    "print(any(r.startswith('nvidia-') for r in m.requires('torch') or []))"
)


class CannotMakeError(RuntimeError):
    """An environment could not be made; the message says why, and what to do."""


@dataclass(frozen=True)
class Peer:
    """A peer that is there: start its processes with `python`."""

    name: str
    python: str
    versions: dict[str, str] = field(default_factory=dict)


def default_folder() -> Path:
    """Where environments are made: in the user's cache, as XDG_CACHE_HOME says."""
    cache = os.environ.get("XDG_CACHE_HOME")
    # The specification: what is not absolute is to be ignored.
    base = Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "graphmount" / "peers"


def recipe_of(name: str) -> Recipe:
    """Raises CannotMakeError with the names there are if there is no such peer."""
    if name not in RECIPES:
        raise CannotMakeError(f"there is no peer {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]


def find(name: str, folder: str | Path | None = None) -> Peer | None:
    """The peer, if it can be imported here or has an environment; None if not."""
    recipe = recipe_of(name)
    if all(importlib.util.find_spec(module) is not None for module in recipe.modules):
        return Peer(name, sys.executable, _versions_here())
    place = Path(folder or default_folder()) / name
    ready = _read_ready(place)
    if ready is None or ready["steps"] != _steps_as_text(recipe):
        return None
    return Peer(name, str(_python_of(place)), ready["versions"])


def why_missing(name: str) -> str:
    """What to tell who wants a peer that is not there."""
    recipe = recipe_of(name)
    if not recipe.steps:
        return f"{name} is not installed: {recipe.by_hand}"
    return (
        f"{name} is not installed; `python -m {__package__} {name}` makes an environment for it "
        f"(pip downloads about {recipe.size:,} MB)"
    )


def plan(recipe: Recipe, place: Path, python: str) -> list[list[str]]:
    """The commands that make an environment, before the test whether it works."""
    commands = [[python, "-m", "venv", "--clear", str(place)]]
    return commands + [_pip_command(place, step) for step in recipe.steps]


def make(
    name: str, folder: str | Path | None = None, *, say: Callable[[str], None] = print
) -> Peer:
    """Makes the environment of a peer, or finds it. Takes minutes, and shows what pip does.

    Raises:
        CannotMakeError: pip cannot install it, or it does not work when it is installed.
    """
    recipe = recipe_of(name)
    found = find(name, folder)
    if found is not None:
        say(f"{name}: there already, by {found.python}")
        return found
    if not recipe.steps:
        raise CannotMakeError(f"{name}: {recipe.by_hand}")
    place = Path(folder or default_folder()) / name
    python = python_for(recipe)
    say(f"{name}: {recipe.about}; into {place}; pip downloads about {recipe.size:,} MB")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        commands = plan(recipe, place, python)
        _run(name, commands[0], say)
        for step, command in zip(recipe.steps, commands[1:], strict=True):
            if step.cuda_only and _ask(place, _NEEDS_CUDA).strip() != "True":
                say(f"{name}: torch is not for CUDA, so its libraries are not needed")
                continue
            _run(name, command, say)
        _ask(place, "; ".join(f"import {module}" for module in recipe.modules))
        versions = json.loads(_ask(place, _VERSIONS))
        ready = {"steps": _steps_as_text(recipe), "versions": versions}
        (place / _READY).write_text(json.dumps(ready))
    except (OSError, subprocess.CalledProcessError, CannotMakeError) as error:
        shutil.rmtree(place, ignore_errors=True)
        said = (error.stderr or "") if isinstance(error, subprocess.CalledProcessError) else error
        raise CannotMakeError(
            f"{name} cannot be made in {place}: {_last_lines(str(said))}\n"
            "Is there a network, and does pip's index have these wheels for this Python and "
            "system? Nothing is left behind; the benchmarks skip this peer."
        ) from error
    say(f"{name}: ready, by {_python_of(place)}")
    return Peer(name, str(_python_of(place)), versions)


def python_for(recipe: Recipe) -> str:
    """An interpreter that there are wheels for: this one, or another on the PATH."""
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not recipe.pythons or this in recipe.pythons:
        return sys.executable
    for version in recipe.pythons:
        path = shutil.which(f"python{version}")
        if path is not None:
            return path
    raise CannotMakeError(
        f"{recipe.name} has wheels for Python {', '.join(recipe.pythons)} only; this is {this}, "
        "and none of them is on the PATH. Install one, and try again."
    )


def _pip_command(place: Path, step: Step) -> list[str]:
    command = [str(_python_of(place)), "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--no-deps"] if step.alone else []
    return [*command, *step.packages]


def _run(name: str, command: list[str], say: Callable[[str], None]) -> None:
    """Runs a command that shows its progress itself, and keeps what it complains about."""
    say(f"{name}: {shlex.join(command)}")
    lines: list[str] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            lines.append(line.rstrip())
            say(f"{name}: {lines[-1]}")
    if process.returncode != 0:
        raise CannotMakeError("\n".join(lines))


def _ask(place: Path, code: str) -> str:
    command = [str(_python_of(place)), "-c", code]
    # DGL asks for a backend where none is set, and writes the answer into the home folder.
    given = os.environ | {"DGLBACKEND": "pytorch"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=given).stdout


def _python_of(place: Path) -> Path:
    return place / "bin" / "python"


def _read_ready(place: Path) -> dict[str, Any] | None:
    try:
        ready: dict[str, Any] = json.loads((place / _READY).read_text())
    except (OSError, ValueError):
        return None
    return ready if _python_of(place).exists() else None


def _steps_as_text(recipe: Recipe) -> str:
    """What tells an environment of this recipe from one of an older recipe."""
    return json.dumps([step.packages for step in recipe.steps])


def _versions_here() -> dict[str, str]:
    found = importlib.metadata.distributions()
    return {distribution.name.lower(): distribution.version for distribution in found}


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST_WORDS:])
