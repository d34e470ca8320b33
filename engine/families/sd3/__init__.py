"""Stable Diffusion 3 medium and 3.5 medium, large and large turbo.

CLIP ViT-L, OpenCLIP bigG and T5-XXL read the prompts; T5 may be left out. Latents have 16 channels,
shifted and scaled; the transformer predicts flow, and a negative prompt acts by true guidance.
"""

from engine.families.sd3.family import StableDiffusion3

FAMILY = StableDiffusion3()
