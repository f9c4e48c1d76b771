"""Benchmarks of datasets of many node types."""
