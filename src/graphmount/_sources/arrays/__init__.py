"""Sources that are arrays: `.npy`, `.npz`, and lists or columns of them."""
