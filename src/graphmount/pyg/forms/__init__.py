"""What batches of this package are: `Data` of one kind of nodes, `HeteroData` of many."""
