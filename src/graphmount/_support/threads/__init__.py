"""Threads and locks of Python, and what becomes of them in a child and at exit."""
