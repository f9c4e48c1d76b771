"""Where a compile writes to: complete under its name, or not there."""
