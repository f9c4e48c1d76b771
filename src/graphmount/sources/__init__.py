"""What can be compiled: one module for each kind of source, all of which give the same batches."""
