"""Pictures made larger between two passes: as latents, or decoded, enlarged and encoded again."""
