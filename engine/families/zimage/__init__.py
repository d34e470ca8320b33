"""Z-Image: a transformer that reads the states of Qwen3-4B beside the latent's tokens.

Turbo was distilled to eight steps without guidance; Base takes guidance and a negative prompt.
Latents are Flux.1's, of 16 channels; the transformer predicts flow.
"""

from engine.families.zimage.family import ZImage

FAMILY = ZImage()
