"""The benchmarks, one per module: what is measured, checked and shown."""
