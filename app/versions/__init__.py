"""Versions on disk: which trees there are, and which one starts. The launcher uses all of it."""
