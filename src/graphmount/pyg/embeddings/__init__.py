"""Embeddings of nodes that are learned from random walks."""
