"""Flux.1: a transformer that attends to T5's tokens, with CLIP ViT-L's pooled text beside.

dev and Krea take guidance as an input, from which they were distilled; schnell was distilled to
four steps. Latents have 16 channels, shifted and scaled; the transformer predicts flow.
"""

from engine.families.flux.family import Flux1

FAMILY = Flux1()
