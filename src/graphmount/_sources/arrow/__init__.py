"""Sources that pyarrow reads: Parquet, Arrow IPC, ORC, and tables in memory."""
