"""Stable Diffusion 2.x: OpenCLIP ViT-H text encoder, the layer before its last, linear projections.

The UNet's heads are 64 wide. Whether it predicts noise (2.0 and 2.1 base) or v (768) no key says.
"""

from engine.families import latent_spaces
from engine.families.base import Component
from engine.families.latent_diffusion import LatentDiffusion, unet_signs
from engine.families.sizes import ClipTextFacts, UNetFacts
from engine.graphs.clip_text import Activation

CONTEXT_WIDTH = 1024


def recognises(text: str) -> bool:
    """Whether a UNet projects by linear layers and is told nothing but time and text."""
    signs = unet_signs(text)
    if signs is None or signs.convolutional or signs.added:
        return False
    fits_text = signs.text_widths == (signs.context_width,)
    return fits_text or signs.context_width == CONTEXT_WIDTH


FAMILY = LatentDiffusion(
    name="sd2",
    title="SD 2.x",
    pipelines=("StableDiffusionPipeline",),
    recognises=recognises,
    text_encoders={Component.TEXT_ENCODER: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SD,
    default_size=512,
).family()
