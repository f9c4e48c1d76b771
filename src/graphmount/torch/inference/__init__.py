"""Layer by layer over all nodes, for graphs larger than memory."""
