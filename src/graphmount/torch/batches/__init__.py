"""What loaders give as tensors, and its edges as the sparse matrices that layers want."""
