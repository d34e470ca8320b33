"""FLUX.2 klein: a transformer that reads the states of Qwen3 beside tokens of pictures.

The usual files are distilled to four steps without guidance; base takes guidance and a negative
prompt. Latents are of 128 channels, each cell of 16 pixels; the transformer predicts flow.
"""

from engine.families.flux2.family import Flux2Klein

FAMILY = Flux2Klein()
