"""Tests of the family of Z-Image."""
