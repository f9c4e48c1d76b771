"""Makes the environments of peers: `python -m benchmarks.peers [NAME...]`.

Without a name it says which peers there are, and which of them are installed.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .environments import CannotMakeError, default_folder, find, make, plan, python_for, recipe_of
from .recipes import RECIPES

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, or with those of the process."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}")
    parser.add_argument("--folder", help=f"where environments are ({default_folder()})")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be run")
    options = parser.parse_args(arguments)
    if not options.names:
        for name, recipe in RECIPES.items():
            peer = find(name, options.folder)
            print(f"{name:12} {recipe.about}: {peer.python if peer else 'not installed'}")
        return 0
    status = 0
    for name in options.names:
        try:
            if options.dry_run:
                show_plan(name, options.folder)
            else:
                make(name, options.folder, say=lambda line: print(line, flush=True))
        except CannotMakeError as error:
            print(error, file=sys.stderr)
            status = 1
    return status


def show_plan(name: str, folder: str | None) -> None:
    recipe = recipe_of(name)
    if not recipe.steps:
        print(f"{name}: {recipe.by_hand}")
        return
    place = Path(folder or default_folder()) / name
    for command in plan(recipe, place, python_for(recipe)):
        print(shlex.join(command))


if __name__ == "__main__":
    sys.exit(main())
