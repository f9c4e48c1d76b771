"""Epochs of a loader: where it is in them, what one did, and one of batches that are kept."""
