"""Flux.1: its files, its keys in each layout, and its settings."""
