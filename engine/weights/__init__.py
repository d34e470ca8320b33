"""Weights: their sources, their conversion and binding, and their working copies."""
