"""Stable Diffusion 2.x: OpenCLIP ViT-H text encoder, the layer before its last, linear projections.

The UNet's heads are 64 wide. Whether it predicts noise (2.0 and 2.1 base) or v (768) no key says.
"""

from engine.families import latent_spaces
from engine.families.base import Component, TextUse
from engine.families.latent_diffusion import LatentDiffusion, unet_signs
from engine.families.sizes import ClipTextFacts, UNetFacts
from engine.graphs.clip_text import Activation

CONTEXT_WIDTH = 1024
# Of OpenCLIP ViT-H; Hugging Face's layout leaves the last one out, which is not used.
_TEXT_LAYERS = 24


def recognises(text: str) -> bool:
    """Whether a UNet projects by linear layers and is told nothing but time and text."""
    signs = unet_signs(text)
    if signs is None or signs.convolutional or signs.added:
        return False
    fits_text = signs.text_widths == (signs.context_width,)
    return fits_text or signs.context_width == CONTEXT_WIDTH


def text_use(layers: int) -> TextUse:
    """The layer before the last, normed; the tokens that fill up are 0 (open_clip's tokenizer)."""
    skip = 2 if layers == _TEXT_LAYERS else 1
    return TextUse(skip, final_norm=True, zero_padded=frozenset({Component.TEXT_ENCODER}))


FAMILY = LatentDiffusion(
    name="sd2",
    title="SD 2.x",
    pipelines=("StableDiffusionPipeline",),
    recognises=recognises,
    text_encoders={Component.TEXT_ENCODER: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SD,
    default_size=512,
    text=text_use,
).family()
