"""Gathering by others: NumPy and GraphBolt over a mapped `.npy` file with the same rows.

They run in the same rounds and within the same limit as we do, and what they gather is compared
with what the rows are. Neither NumPy nor GraphBolt tells the kernel that rows are scattered, so it
reads ahead for each; one line has NumPy told so by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.patterns import COLUMNS, expected_rows, matrix, write_npy
from ...harness.cold_runs import run_cold
from ...peers import RECIPES, Peer, find, why_missing
from ...peers.trial import script_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...report.report import Report

_CHECKED = 256


@dataclass(frozen=True)
class PeerWay:
    """How a peer gathers.

    Attributes:
        name: In the table.
        way: What its script calls it.
        peer: Which it is.
        batch: Rows at a time.
        more_memory: What its libraries take of the limit, more than ours: it comes on top.
    """

    name: str
    way: str
    peer: Peer
    batch: int
    more_memory: int = 0


def ways_here(report: Report, python: str) -> list[PeerWay]:
    """What is installed; the report says what is not."""
    numpy = Peer("numpy", python)
    ways = [
        PeerWay("numpy.memmap, take", "take", numpy, 1 << 8),
        PeerWay("numpy.memmap[ids]", "index", numpy, 1 << 8),
        PeerWay("numpy.memmap[ids], MADV_RANDOM by hand", "index-random", numpy, 1 << 14),
    ]
    graphbolt = find("graphbolt")
    if graphbolt is None:
        report.skip("GraphBolt", why_missing("graphbolt"))
        return ways
    report.note(RECIPES["graphbolt"].differs[1])
    name = f"GraphBolt {graphbolt.versions['dgl']} TorchBasedFeature"
    return [*ways, PeerWay(name, "graphbolt", graphbolt, 1 << 8, 112 << 20)]


class GatherPeers:
    """The file that they read, and the ways there are.

    Args:
        report: Where checks go.
        folder: Where the file is made.
        size: Of the file, in bytes.
        python: The interpreter that NumPy is measured in.
    """

    def __init__(self, report: Report, folder: str, size: int, python: str) -> None:
        self._ways = ways_here(report, python)
        self._report = report
        self._path, self._ids = f"{folder}/features.npy", f"{folder}/ids.npy"
        self._out = f"{folder}/rows.npy"
        rows = matrix(size)
        write_npy(rows, self._path)
        np.save(self._ids, np.random.default_rng(2).integers(0, len(rows), _CHECKED))

    def run_all(
        self, cap: int, seconds: float, number: int
    ) -> Iterator[tuple[str, dict[str, float]]]:
        """One run of each, cold: names and results. What fails is in the report.

        Raises:
            UnavailableError: There is no way to limit memory here.
        """
        for way in self._ways:
            result = self._run(way, cap, seconds, number)
            if result is not None:
                yield way.name, result

    def _run(self, way: PeerWay, cap: int, seconds: float, number: int) -> dict[str, float] | None:
        command = script_command(way.peer, "gather_rows", self._path, "--way", way.way)
        command += ["--batch", str(way.batch), "--seconds", str(seconds)]
        command += ["--check", self._ids, self._out]
        run = run_cold(command, cap + way.more_memory, self._path)
        fine = run.status == 0 and not run.oom_kills
        wrong = count_wrong(np.load(self._out), np.load(self._ids)) if fine else None
        detail = f"{wrong} of {_CHECKED} rows wrong, {run.oom_kills} OOM kills, status {run.status}"
        self._report.check(f"{way.name}, run {number}", wrong == 0, detail)
        if not fine:
            return None
        result: dict[str, float] = json.loads(run.stdout)
        return result


def count_wrong(rows: Any, ids: Any) -> int:  # noqa: ANN401
    """How many rows are not what their ids say; all of them if the shape is wrong."""
    if rows.shape != (len(ids), COLUMNS):
        return len(ids)
    return int((rows != expected_rows(ids)).any(axis=1).sum())
