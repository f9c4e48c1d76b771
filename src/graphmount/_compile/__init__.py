"""Writes graphs, features and whole datasets."""
