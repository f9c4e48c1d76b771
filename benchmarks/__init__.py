"""Benchmarks, each run from the root of a clone as `python -m benchmarks.bench_mount`.

What is measured: `bench_mount` (opening, and reading a file larger than memory), `bench_verify`,
`bench_compile`, `bench_advice`. What they share: `memcap` (a command with little memory),
`page_cache` (cold and warm), `patterns` (data whose every value is known), `scratch` (the folder it
is put into), `environment` and `report` (what is printed and kept). `open_once` and `read_rows` are
the processes being measured.
"""
