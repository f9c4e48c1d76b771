"""Changing a compiled dataset: tables, labels, times and splits come and go, the rest stays."""
