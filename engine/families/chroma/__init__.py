"""Chroma: Flux.1's blocks without pooled text, modulated by a small network of their own.

T5 reads the prompts, with its padding masked; a negative prompt acts by true guidance. Latents are
Flux.1's.
"""

from engine.families.chroma.family import Chroma

FAMILY = Chroma()
