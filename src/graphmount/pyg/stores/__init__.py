"""A mounted dataset as PyG's stores, and what their attributes are called."""
