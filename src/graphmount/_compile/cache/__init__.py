"""Datasets that were compiled of objects in memory, kept in a folder for the next time."""
