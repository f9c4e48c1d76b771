"""Which rows to keep in memory: the hottest of a table, and how much memory each table has."""
