"""graphmount's sampler, as PyG's own loaders use it."""
