"""What loaders are made of: files, or objects of PyG and their datasets in a cache."""
