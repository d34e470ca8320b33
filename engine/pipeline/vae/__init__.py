"""Pictures to latents and back, whole or in tiles."""
