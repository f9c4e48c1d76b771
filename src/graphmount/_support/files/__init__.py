"""Ways to files by path: what others have made, folders, locks, temporary names."""
