"""Several types of nodes and the relations between them: what can be sampled from all of them."""
