"""The data that benchmarks work on; every value of it is known, so that answers can be checked."""
