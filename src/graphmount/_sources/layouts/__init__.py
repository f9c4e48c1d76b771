"""Folders of well-known datasets, recognised by their files."""
