"""Encodes pictures to latents and decodes latents, whole or in tiles."""
