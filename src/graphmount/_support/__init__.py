"""What all packages share: checked arguments, sizes, progress, seeds, columns of text."""
