"""What several benchmarks have in common, and what is too long for one module."""
