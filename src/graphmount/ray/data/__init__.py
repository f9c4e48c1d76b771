"""Ray Data and graphmount: graphs that a cluster compiles, and features that it reads."""
