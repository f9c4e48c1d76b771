"""Fair conditions: memory limits, a cold page cache, interleaved processes, scratch folders."""
