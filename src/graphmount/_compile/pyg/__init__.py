"""Compiling objects of PyG."""
