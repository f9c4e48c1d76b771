"""Benchmarks of training: steps, epochs and speed by memory."""
