"""Benchmarks, each run from the root of a clone as `python -m benchmarks.bench_mount`.

What is measured: `bench_mount` (opening, and reading a file larger than memory), `bench_verify`,
`bench_advice`, `bench_compile_text`, `bench_compile_large` and `bench_compile_features`. What they
share: `memcap` (a command with little memory), `page_cache` (cold and warm), `patterns` and
`edge_streams` (data whose every value is known), `scratch` (the folder it is put into), `job_runs`
(tools that take turns), `environment` and `report` (what is printed and kept). `open_once`,
`read_rows`, `compile_job` and `compiled_lists` are the processes being measured or asked. Other
libraries that they compare with are in `peers`.
"""
