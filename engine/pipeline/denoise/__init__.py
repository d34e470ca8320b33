"""From noise to a clean latent."""
