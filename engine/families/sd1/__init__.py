"""Stable Diffusion 1.x: CLIP ViT-L/14 text encoder, convolutional UNet, KL autoencoder."""

import re

from engine.api.sentences import sentence
from engine.families.checkpoint import Component
from engine.families.shared.clip.sizes import ClipTextFacts
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.latent_diffusion import LatentDiffusion
from engine.families.shared.stable_diffusion.lora_signs import LoraSigns
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import UNetSigns

CONTEXT_WIDTH = 768


def has_unet(signs: UNetSigns) -> bool:
    """Tell whether a UNet is of SD 1.x: it projects by convolution and fits the text encoder.

    No later family projects by convolution. A UNet made for CLIP ViT-L is SD 1.x even beside a text
    encoder of another width: the error is then about the encoder.
    """
    if not signs.convolutional:
        return False
    fits_text = not signs.text_widths or signs.text_widths[0] == signs.context_width
    return fits_text or signs.context_width == CONTEXT_WIDTH


FAMILY = LatentDiffusion(
    name="sd1",
    title="SD 1.x",
    full_title="Stable Diffusion 1",
    about=sentence("512 pixels, quick, and the most LoRAs: 1.4, 1.5 and what grew of them."),
    base_models=re.compile(r"sd ?1|sd_v1|stable-diffusion-v1"),
    has_unet=has_unet,
    text_encoders={Component.TEXT_ENCODER: ClipTextFacts()},
    unet=UNetFacts(heads=8),
    latents=latent_spaces.SD,
    default_size=512,
    modelspec=("stable-diffusion-v1", "stable-diffusion-v1"),
    convolutional=True,
    lora=LoraSigns(CONTEXT_WIDTH, (768,), attends_first=True, convolutional=True),
)
