"""What calls of mounted files return."""
