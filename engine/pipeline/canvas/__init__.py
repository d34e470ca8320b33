"""The picture that a job redraws, its mask, and their latents."""
