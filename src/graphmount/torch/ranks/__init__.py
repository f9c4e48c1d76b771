"""Processes that train together: they begin with the same data, save together and end together."""
