"""Edges on their way from a source into the core."""
