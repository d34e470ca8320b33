"""Chroma: its files, its keys in each layout, and its pictures."""
