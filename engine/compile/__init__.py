"""Makes networks ready on a device: emits the graph, binds the weights, compiles, loads."""
