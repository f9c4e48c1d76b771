"""Id spaces: the nodes of one type, with their own ids and their own order."""
