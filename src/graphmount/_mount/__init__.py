"""Mounted files: graphs, features, and what they answer."""
