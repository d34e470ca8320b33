"""Runs one job at a time: the plan, the devices it falls back to, previews, and saved pictures."""
