"""Weights: where they come from, how they are converted and bound, and their working copies."""
