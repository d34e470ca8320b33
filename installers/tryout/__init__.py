"""Tries a built Linux tree: its commands, our own tests inside it, and foreign surroundings."""
