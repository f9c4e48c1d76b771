"""Drives the fuzzers of readers that are written in Python.

    fuzz_NAME.py [--seed N] [--seconds N] [--atheris] [FILE ...]

The same seed makes the same inputs, out of those in `corpus/NAME`. With files, these are taken
instead. An input gets so many seconds and so much memory; what fails is kept as `crash-NAME`. Where
atheris is installed, it finds the inputs (`--atheris`), led by what they reach in the reader.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What an input may take, in seconds and bytes; a real reader of a few kilobytes needs neither.
MOST_SECONDS = 20
MOST_BYTES = 1 << 30

#: Inputs that were changed more than once reach further, so some are kept to be changed again.
_KEPT_BYTES = 4096
_MOST_KEPT = 300


@dataclass(frozen=True, kw_only=True)
class Fuzzer:
    """One of them.

    Attributes:
        name: What it is called; its corpus is in the folder of this name.
        check: Does with an input all that is to be done, in a folder for files, and returns what
            became of it in a word; raises if something is wrong.
        mutated: Changes an input a little.
        readers: Modules whose functions atheris is to watch.
    """

    name: str
    check: Callable[[bytes, str], str]
    mutated: Callable[[bytes, random.Random], bytes]
    readers: Sequence[str]

    @property
    def corpus(self) -> pathlib.Path:
        """Where the inputs are that it begins with."""
        return pathlib.Path(__file__).parent / "corpus" / self.name

    def main(self) -> None:
        """Does what the command line says."""
        parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--seconds", type=float, default=10)
        parser.add_argument("--atheris", action="store_true")
        parser.add_argument("files", nargs="*", type=pathlib.Path)
        options, others = parser.parse_known_args()
        signal.signal(signal.SIGALRM, _late)
        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
        with tempfile.TemporaryDirectory(prefix="graphmount-fuzz-") as folder:
            if options.files:
                for path in options.files:
                    print(path, self._run(path.read_bytes(), folder))
            elif options.atheris:
                seconds = [f"-max_total_time={int(options.seconds)}", f"-seed={options.seed}"]
                self._run_atheris(folder, [*seconds, *others])
            else:
                self._run_for(options.seconds, options.seed, folder)

    def _run(self, data: bytes, folder: str) -> str:
        """`check` in so many seconds; keeps the input if it fails."""
        signal.alarm(MOST_SECONDS)
        try:
            return self.check(data, folder)
        except BaseException:  # noqa: BLE001  (whatever it is, it must not come out)
            kept = f"crash-{self.name}"
            pathlib.Path(kept).write_bytes(data)
            traceback.print_exc()
            print(f"fuzz: kept as {kept}", file=sys.stderr)
            sys.exit(1)
        finally:
            signal.alarm(0)

    def _run_for(self, seconds: float, seed: int, folder: str) -> None:
        """Makes inputs out of the corpus, and takes them."""
        corpus = [path.read_bytes() for path in sorted(self.corpus.iterdir())]
        for data in corpus:
            self._run(data, folder)
        counts: Counter[str] = Counter()
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            chance = random.Random(seed * 0x9E3779B97F4A7C15 + counts.total())
            data = self.mutated(chance.choice(corpus), chance)
            if counts.total() % 50 == 0 and len(data) < _KEPT_BYTES and len(corpus) < _MOST_KEPT:
                corpus.append(data)
            counts[self._run(data, folder)] += 1
        print(f"fuzz: {counts.total()} inputs (seed {seed}): {dict(counts)}, nothing else")

    def _run_atheris(self, folder: str, arguments: list[str]) -> None:
        """Lets atheris find the inputs."""
        atheris = importlib.import_module("atheris")
        atheris.instrument_func(self.check)
        for module in self.readers:
            for value in vars(importlib.import_module(module)).values():
                if callable(value) and not isinstance(value, type):
                    atheris.instrument_func(value)
        # What it finds goes to the first folder.
        found = os.path.join(folder, "found")
        os.mkdir(found)
        words = [sys.argv[0], *arguments, found, str(self.corpus)]
        atheris.Setup(words, lambda data: self._run(data, folder))
        atheris.Fuzz()


def _late(*_: object) -> None:
    """Raises where the reader is when its time is over."""
    raise TimeoutError(f"one input took more than {MOST_SECONDS} s")
