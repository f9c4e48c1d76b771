"""Sources that are objects in memory: arrays, tensors, lists, graphs of PyG and NetworkX."""
