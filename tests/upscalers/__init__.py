"""Tests of upscalers, on small networks of random weights in the layouts of real files."""
