"""What every source gives and promises: batches, options, exact numbers."""
