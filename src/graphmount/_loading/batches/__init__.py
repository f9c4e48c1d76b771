"""What loaders give: batches of arrays, and what batches of all kinds have in common."""
