"""Rows on their way from a source into a file."""
