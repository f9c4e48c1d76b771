"""Sources that are text: CSV, TSV, edge lists, Matrix Market, compressed or not."""
