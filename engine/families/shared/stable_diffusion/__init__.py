"""Stable Diffusion: reading, naming and joining the parts of its checkpoints."""
