"""Stable Diffusion 2.x: OpenCLIP ViT-H text encoder, the layer before its last, linear projections.

The UNet's heads are 64 wide. Whether it predicts noise (2.0 and 2.1 base) or v (768) no key says.
"""

import numpy as np

from engine.api.values import PredictionType
from engine.families.base import Component, ComponentSource
from engine.families.shared.clip.sizes import ClipTextFacts
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.latent_diffusion import LatentDiffusion
from engine.families.shared.stable_diffusion.training import SD_2_NAMES, Training
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import has_linear_unet
from engine.graphs.clip_text import Activation
from engine.graphs.unet import UNetConfig
from engine.weights.sources import as_source

CONTEXT_WIDTH = 1024
# Of OpenCLIP ViT-H; Hugging Face's layout leaves the last one out, which is not used.
_TEXT_LAYERS = 24
_TELLING = "up_blocks.3.attentions.2.transformer_blocks.0.norm1.bias"
_SPREAD_OF_V = 0.09


def text_use(layers: int) -> TextUse:
    """The layer before the last, normed; the tokens that fill up are 0 (open_clip's tokenizer)."""
    skip = 2 if layers == _TEXT_LAYERS else 1
    return TextUse(skip, final_norm=True, zero_padded=frozenset({Component.TEXT_ENCODER}))


def guessed_training(unet: ComponentSource) -> Training | None:
    """v where a bias of the last transformer spreads widely, as in SD 2 trained at 768.

    ComfyUI tells them apart so (`comfy/supported_models.py`, SD20); inpainting ones predict noise.
    """
    bias = unet.weights.get(_TELLING)
    config = unet.config
    if bias is None or not isinstance(config, UNetConfig) or config.in_channels != 4:
        return None
    spread = float(np.std(as_source(bias).read().astype(np.float32)))
    if not spread > _SPREAD_OF_V:
        return None
    reason = f"the spread of {_TELLING} is {spread:.2f}"
    return Training(PredictionType.V, reason, is_stated=False)


FAMILY = LatentDiffusion(
    name="sd2",
    title="SD 2.x",
    full_title="Stable Diffusion 2",
    called=SD_2_NAMES,
    has_unet=has_linear_unet(CONTEXT_WIDTH, text_encoders=1, adds_time_ids=False),
    text_encoders={Component.TEXT_ENCODER: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SD,
    default_size=512,
    v_default_size=768,
    hides_prediction=True,
    text=text_use,
    guess=guessed_training,
)
