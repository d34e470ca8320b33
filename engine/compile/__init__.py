"""Prepares networks for a device: emits the graph, binds the weights, compiles, loads."""
