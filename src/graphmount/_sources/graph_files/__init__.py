"""Sources that are files of graphmount or of GraphZero: graphs, and tables of features."""
