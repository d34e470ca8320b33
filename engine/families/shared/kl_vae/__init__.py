"""Autoencoders of latent diffusion, whole and tiny."""
