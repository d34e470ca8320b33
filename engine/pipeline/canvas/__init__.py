"""The picture that a job paints over, its mask, and their latents."""
