"""Description files: a TOML file that says what a dataset is compiled of."""
