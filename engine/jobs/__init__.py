"""Runs one job at a time: where failures become data, and where a wish to stop enters."""
