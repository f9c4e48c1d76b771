"""Sources that are objects in memory, or files that are mounted."""
