"""Stable Diffusion: reading and joining the components of its checkpoints."""
