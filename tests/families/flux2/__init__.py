"""Tests of the family of FLUX.2 klein."""
