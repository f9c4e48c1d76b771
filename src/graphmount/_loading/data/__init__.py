"""What loaders are made of: types, relations and tables, of one kind of nodes or of many."""
