"""A folder of mounted files: its description, how it is opened and verified."""
