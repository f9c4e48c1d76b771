"""What a benchmark finds: figures with their units, the file they are kept in, and the page."""
