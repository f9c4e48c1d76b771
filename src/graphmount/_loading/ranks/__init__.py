"""The processes that train together: which one this is, and what those of a machine share."""
