"""T5 text encoders."""
