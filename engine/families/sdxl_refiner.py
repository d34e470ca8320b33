"""The SDXL refiner: OpenCLIP bigG alone, and a UNet told of sizes and of how the picture looks."""

from engine.families import latent_spaces
from engine.families.base import Component, TextUse
from engine.families.latent_diffusion import LatentDiffusion, unet_signs
from engine.families.sizes import ClipTextFacts, UNetFacts
from engine.graphs.clip_text import Activation

CONTEXT_WIDTH = 1280


def recognises(text: str) -> bool:
    """Whether a UNet is told of sizes and attends to one text encoder."""
    signs = unet_signs(text)
    if signs is None or signs.convolutional or not signs.added:
        return False
    fits_text = signs.text_widths == (signs.context_width,)
    return fits_text or signs.context_width == CONTEXT_WIDTH


TEXT = TextUse(
    clip_skip=2,
    final_norm=False,
    zero_padded=frozenset({Component.TEXT_ENCODER_2}),
    zeroes_empty=True,
)

FAMILY = LatentDiffusion(
    name="sdxl_refiner",
    title="SDXL refiner",
    pipelines=(),
    recognises=recognises,
    text_encoders={Component.TEXT_ENCODER_2: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SDXL,
    default_size=1024,
    text=lambda _: TEXT,
    # Original height and width, crop, and the aesthetic score.
    told_sizes=5,
).family()
