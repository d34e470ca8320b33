"""The autoencoders of latent diffusion: KL autoencoders and tiny ones (TAESD)."""
