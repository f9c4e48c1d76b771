"""Benchmarks: every number that the documentation states comes from here.

`graphmount bench NAME` runs them from an installation; `python -m benchmarks.cases.bench_mount`
runs one from the root of a clone. `catalog` lists them by name, and `suite` runs several and writes
the report. The rooms, each of which uses only those before it:

- `harness`: fair conditions, such as a memory limit, a cold page cache, and interleaved processes.
- `data`: graphs and tables whose every value is known.
- `jobs`: what runs in a process of its own, so that its memory and time can be measured.
- `peers`: other libraries that are compared with, each in an environment of its own.
- `report`: figures with their units, the results file, charts, and the page.
- `cases`: the benchmarks.
"""
