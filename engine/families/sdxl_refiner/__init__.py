"""The SDXL refiner: text encoder OpenCLIP bigG alone, and a UNet with five time ids.

The time ids are the original size, the crop and an aesthetic score.
"""

import re

import msgspec

from engine.api.sentences import sentence
from engine.api.values import ConventionName
from engine.families.checkpoint import Component
from engine.families.shared.clip.sizes import ClipTextFacts
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.architecture import StableDiffusion
from engine.families.shared.stable_diffusion.latent_diffusion import SDXL_TEXT, LatentDiffusion
from engine.families.shared.stable_diffusion.lora_signs import LoraSigns
from engine.families.shared.stable_diffusion.size_conditioning import REFINER_TIME_IDS
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import has_linear_unet
from engine.graphs.clip_text import Activation

CONTEXT_WIDTH = 1280
# diffusers and InvokeAI encode an empty negative prompt of the refiner instead of zeroing it
# (model_index.json, force_zeros_for_empty_prompt; `SDXLRefinerCompelPromptInvocation`).
_TEXT = msgspec.structs.replace(
    SDXL_TEXT, zeroes_empty=frozenset({ConventionName.A1111, ConventionName.COMFY})
)

FAMILY = LatentDiffusion(
    name="sdxl_refiner",
    title="SDXL refiner",
    about=sentence("Draws the last steps of SDXL's pictures, and none of its own."),
    base_models=re.compile(r"(sdxl|stable-diffusion-xl).*refiner"),
    has_unet=has_linear_unet(CONTEXT_WIDTH, text_encoders=1, adds_time_ids=True),
    text_encoders={Component.TEXT_ENCODER_2: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SDXL,
    vae_overflows_f16=True,
    default_size=1024,
    modelspec=("stable-diffusion-xl-v1-refiner", "stable-diffusion-xl-v1-refiner"),
    text=lambda _: _TEXT,
    architecture=StableDiffusion(
        REFINER_TIME_IDS, refines=True, controls=False, image_prompts=False
    ),
    lora=LoraSigns(CONTEXT_WIDTH, (1280,), depth=4),
)
