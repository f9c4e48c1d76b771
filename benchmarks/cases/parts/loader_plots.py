"""What `bench_loader` found, as plots: speed, cache hits and stages by the memory for features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report.plot import Plot, Point
from ...report.units import Spread, spread_of
from .loader_ways import MAPPED, SHARES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...harness.interleaved import Outcome
    from ...report.report import Report

_LOADER = "graphmount's loader"
_MAPPED_SHARE = 10.0
_STAGES = {"sampling": "sample", "copying rows in memory": "copy", "waiting for the disk": "wait"}


def plot_memory(
    report: Report, family: str, results: Mapping[str, Outcome], *, leads: bool
) -> None:
    """Speed and cache hits by the share of the features that fit into memory; time by stage."""
    loaders = {
        share: results[name] for share in SHARES if (name := f"loader, {share} %") in results
    }
    speeds: dict[str, list[Point]] = {
        _LOADER: [(float(share), _speed(outcome)) for share, outcome in loaders.items()]
    }
    if MAPPED in results:
        speeds["indexing the mapped tensor"] = [(_MAPPED_SHARE, _speed(results[MAPPED]))]
    x = "memory for features, in percent of their size"
    title = f"{family}: batches by memory"
    report.plot(
        Plot(
            title=title,
            kind="lines",
            x=x,
            y="batches a second",
            series=speeds,
            leads=leads,
            log_x=True,
            log_y=True,
            ours=(_LOADER,),
            better="more",
        )
    )
    hits: list[Point] = [
        (float(share), 100 * (1 - outcome.summary["read_share"]))
        for share, outcome in loaders.items()
    ]
    title = f"{family}: rows that need not be read"
    report.plot(
        Plot(
            title=title,
            kind="lines",
            x=x,
            y="percent",
            series={_LOADER: hits},
            log_x=True,
            ours=(_LOADER,),
            better="more",
        )
    )
    stages: dict[str, list[Point]] = {
        name: [(f"{share} %", outcome.summary["stages"][key]) for share, outcome in loaders.items()]
        for name, key in _STAGES.items()
    }
    title = f"{family}: what making a batch takes, by memory for features"
    y = "milliseconds a batch; stages overlap"
    report.plot(
        Plot(
            title=title,
            kind="stacks",
            x="memory",
            y=y,
            series=stages,
            factor=1e3,
            ours=tuple(stages),
            better="less",
        )
    )


def _speed(outcome: Outcome) -> Spread:
    return spread_of([turn["batches_per_second"] for turn in outcome.turns])
