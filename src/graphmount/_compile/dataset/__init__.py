"""Whole datasets: one order for all files, checked before hours of work."""
