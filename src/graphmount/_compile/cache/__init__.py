"""The cache: datasets that were compiled from objects in memory, kept for the next time."""
