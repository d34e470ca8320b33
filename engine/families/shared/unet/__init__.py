"""Convolutional UNets with cross-attention to a text."""
