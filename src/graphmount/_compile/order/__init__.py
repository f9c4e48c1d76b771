"""New numbers for nodes that are put into another order."""
