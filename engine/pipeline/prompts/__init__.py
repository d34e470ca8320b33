"""Prompts to what the denoiser attends to."""
