"""What edges and rows are read from. `opening` is the way in."""
