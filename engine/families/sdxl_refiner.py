"""The SDXL refiner: OpenCLIP bigG alone, and a UNet told of sizes and of how the picture looks."""

from engine.families import latent_spaces
from engine.families.base import Component
from engine.families.latent_diffusion import SDXL_TEXT, LatentDiffusion, has_linear_unet
from engine.families.sizes import ClipTextFacts, UNetFacts
from engine.graphs.clip_text import Activation

CONTEXT_WIDTH = 1280

FAMILY = LatentDiffusion(
    name="sdxl_refiner",
    title="SDXL refiner",
    pipelines=(),
    recognises=has_linear_unet(CONTEXT_WIDTH, text_encoders=1, told_sizes=True),
    text_encoders={Component.TEXT_ENCODER_2: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SDXL,
    vae_overflows_f16=True,
    default_size=1024,
    text=lambda _: SDXL_TEXT,
    # Original height and width, crop, and the aesthetic score.
    told_sizes=5,
).family()
