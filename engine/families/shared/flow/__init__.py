"""Parts of families whose denoiser is a transformer trained on straight paths (flow)."""
