"""Loaders: batches of sampled neighbors with their rows."""
