"""Results as `graphmount bench` would write them, made up: what its reports are tested with."""

import dataclasses
import json

from graphmount.benchmarks.report.plot import Plot, bars
from graphmount.benchmarks.report.results import FORMAT
from graphmount.benchmarks.report.units import Spread, Unit, seconds, text

ROWS = [
    {"way": "ours <fast>", "seconds": Spread(1.0, 0.9, 1.1, 5), "rows": 1200},
    {"way": "theirs & slow", "seconds": Spread(12.5, 10.0, 15.0, 5), "rows": None},
]


def plots() -> list[Plot]:
    """One of each kind, with names that have to be escaped or are too long."""
    lines = {"loader <hot>": [(5.0, Spread(3, 2, 4, 5)), (100.0, 9.0)], "mapped": [(10.0, 0.5)]}
    by_factors = {"a": [(1.0, 1e-3), (1e6, Spread(1e3, 1e2, 1e4, 3))]}
    stages = {name: [("5 %", 0.5), ("100 %", 0.25)] for name in ("sampling", "disk", "copying")}
    ours = ["ours <fast>"]
    close = {name: [(1.0, 1.0), (2.0, 1.9 + place / 50)] for place, name in enumerate("abc")}
    long_name = [{"way": "a way whose name is far too long for the margin of a plot", "s": 3e6}]
    return [
        Plot(
            title="By memory & share",
            kind="lines",
            x="percent",
            y="batches/s",
            series=lines,
            ours=("loader <hot>",),
            better="more",
        ),
        Plot(
            title="By size", kind="lines", x="nodes", y="rate", series=lines, log_x=True, log_y=True
        ),
        Plot(title="Both", kind="lines", x="x", y="y", series=by_factors, log_x=True, log_y=True),
        Plot(title="Stages", kind="stacks", x="memory", y="seconds", series=stages),
        Plot(title="Close", kind="lines", x="threads", y="times", series=close, ours=tuple(close)),
        bars("Ways", ROWS, of="seconds", y="seconds", leads=True, ours=ours, better="less"),
        bars(
            "Ways, on a log scale, with a title that is too long for one line of a narrow chart",
            ROWS + long_name,
            of="s",
            y="items",
            factor=1e-3,
            log=True,
            ours=ours,
            better="more",
        ),
    ]


def make_results(*, quick: bool = False, factor: float = 1.0):
    """A document of two benchmarks; `factor` makes the first row of the first slower."""
    rows = [dict(row) for row in ROWS]
    rows[0]["seconds"] = rows[0]["seconds"].times(factor)
    units = {"way": text, "seconds": seconds, "rows": Unit()}
    whole = {
        "benchmark": "walk",
        "shows": "random walks",
        "about": "How fast `walks` are.\n\nSecond paragraph with <tags>.",
        "status": 0,
        "seconds": 12.0,
        "command": "python -m graphmount.benchmarks.cases.bench_walk",
        "tables": {"Uniform <walks>": rows},
        "units": {"Uniform <walks>": units},
        "plots": plots(),
        "notes": ["GraphZero's `last` column is empty."],
        "checks": [
            {"kind": "check", "what": "steps are edges", "passed": True, "detail": "all of 5"},
            {"kind": "goal", "what": "6 times theirs", "passed": True, "detail": "12.5"},
            {"kind": "goal", "what": "60 times theirs", "passed": False, "detail": "12.5"},
        ],
        "skipped": [{"what": "fio", "why": "it is not <installed>"}],
    }
    failed = whole | {"benchmark": "gather", "status": 1, "plots": [], "tables": {}, "checks": []}
    environment = {"cores": 2, "processor": "A & B", "memory": "24 GiB", "disk_model": None}
    document = {
        "format": FORMAT,
        "date": "2026-11-16T00:00:00+00:00",
        "command": "graphmount bench all",
        "quick": quick,
        "seconds": 20.0,
        "environment": environment,
        "benchmarks": [whole, failed],
    }
    return json.loads(json.dumps(document, default=dataclasses.asdict))
