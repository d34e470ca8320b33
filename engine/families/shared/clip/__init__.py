"""CLIP text encoders."""
