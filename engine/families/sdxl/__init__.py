"""SDXL: text encoders CLIP ViT-L and OpenCLIP bigG side by side, and a UNet with time ids.

Both text encoders are read at the layer before the last. The UNet adds bigG's pooled text and six
time ids (original size, crop, target size) to the timestep embedding. SSD-1B, Vega and KOALA are
pruned versions of the UNet, recognised by their sizes.
"""

import re

from engine.api.sentences import sentence
from engine.families.checkpoint import Component
from engine.families.shared.clip.sizes import ClipTextFacts
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.architecture import StableDiffusion
from engine.families.shared.stable_diffusion.latent_diffusion import SDXL_TEXT, LatentDiffusion
from engine.families.shared.stable_diffusion.lora_signs import LoraSigns
from engine.families.shared.stable_diffusion.size_conditioning import SDXL_TIME_IDS
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import has_linear_unet
from engine.graphs.clip_text import Activation
from engine.graphs.unet import UNetConfig

CONTEXT_WIDTH = 2048
_CALLED = re.compile(
    r"(?!(sdxl|stable-diffusion-xl).*refiner)"
    r"(sdxl|stable-diffusion-xl|pony$|illustrious|noobai|playground v2)"
)
# The transformer blocks on the down path, as in ComfyUI's `comfy/model_detection.py`.
_PRUNED: dict[tuple[int, ...], str] = {
    (0, 0, 2, 2, 4, 4): "SSD-1B",
    (0, 0, 1, 1, 2, 2): "Segmind Vega",
    (0, 2, 5): "KOALA-700M",
    (0, 2, 6): "KOALA-1B",
}


def pruned_name(unet: UNetConfig) -> str:
    """Return the name of a pruned SDXL with these sizes; empty for SDXL's own and unknown sizes."""
    return _PRUNED.get(tuple(depth for block in unet.down for depth in block.depths), "")


FAMILY = LatentDiffusion(
    name="sdxl",
    title="SDXL",
    about=sentence("1024 pixels, more detail and more time: also Pony, Illustrious, NoobAI."),
    base_models=_CALLED,
    has_unet=has_linear_unet(CONTEXT_WIDTH, text_encoders=2, adds_time_ids=True),
    text_encoders={
        Component.TEXT_ENCODER: ClipTextFacts(),
        Component.TEXT_ENCODER_2: ClipTextFacts(activation=Activation.GELU),
    },
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SDXL,
    vae_overflows_f16=True,
    edm_latents=latent_spaces.PLAYGROUND,
    default_size=1024,
    modelspec=("stable-diffusion-xl-v1-base", "stable-diffusion-xl-v1-base"),
    hides_prediction=True,
    text=lambda _: SDXL_TEXT,
    architecture=StableDiffusion(SDXL_TIME_IDS, refiner=True, refines=True),
    sizes_name=pruned_name,
    lora=LoraSigns(CONTEXT_WIDTH, (768, 1280), levels=3, depth=10),
)
