"""Tests of the question for a file or a folder."""
