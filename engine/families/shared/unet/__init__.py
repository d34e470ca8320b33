"""Convolutional UNets that attend to a text."""
