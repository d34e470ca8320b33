"""Stable Diffusion 2.x: OpenCLIP ViT-H text encoder, UNet with linear projections.

The UNet reads the encoder's layer before the last, and its heads are 64 wide. No key shows the
prediction type: noise (2.0 base and 2.1 base) or v (768).
"""

import numpy as np

from engine.api.sentences import sentence
from engine.api.values import PredictionType
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.clip.sizes import ClipTextFacts
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.stable_diffusion import latent_spaces
from engine.families.shared.stable_diffusion.architecture import StableDiffusion
from engine.families.shared.stable_diffusion.latent_diffusion import LatentDiffusion
from engine.families.shared.stable_diffusion.lora_signs import LoraSigns
from engine.families.shared.stable_diffusion.training import SD_2_NAMES, Training
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import has_linear_unet
from engine.graphs.clip_text import Activation
from engine.graphs.unet import UNetConfig
from engine.weights.sources import as_source

CONTEXT_WIDTH = 1024
# The layers of OpenCLIP ViT-H; Hugging Face's layout omits the last one, which is unused.
_TEXT_LAYERS = 24
_TELLING = "up_blocks.3.attentions.2.transformer_blocks.0.norm1.bias"
_SPREAD_OF_V = 0.09


def text_use(layers: int) -> TextUse:
    """Return the use of the layer before the last, with the final norm.

    `layers` is the number of layers in the file. Texts are padded with token 0, as by open_clip's
    tokenizer.
    """
    skip = 2 if layers == _TEXT_LAYERS else 1
    return TextUse(skip, final_norm=True, zero_padded=frozenset({Component.TEXT_ENCODER}))


def guessed_training(unet: ComponentSource) -> Training | None:
    """Guess v-prediction from the spread of one bias in the last transformer; None for noise.

    The spread is wide in SD 2 trained at 768. ComfyUI has the same rule
    (`comfy/supported_models.py`, SD20). Inpainting checkpoints predict noise.
    """
    bias = unet.weights.get(_TELLING)
    config = unet.config
    if bias is None or not isinstance(config, UNetConfig) or config.in_channels != 4:
        return None
    spread = float(np.std(as_source(bias).read().astype(np.float32)))
    if not spread > _SPREAD_OF_V:
        return None
    reason = sentence("the spread of {key} is {spread:.2f}", key=_TELLING, spread=spread)
    return Training(PredictionType.V, reason, is_stated=False)


FAMILY = LatentDiffusion(
    name="sd2",
    title="SD 2.x",
    full_title="Stable Diffusion 2",
    about=sentence("512 or 768 pixels: 2.0, 2.1 and few others."),
    base_models=SD_2_NAMES,
    has_unet=has_linear_unet(CONTEXT_WIDTH, text_encoders=1, adds_time_ids=False),
    text_encoders={Component.TEXT_ENCODER: ClipTextFacts(activation=Activation.GELU)},
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SD,
    default_size=512,
    v_default_size=768,
    modelspec=("stable-diffusion-v2-512", "stable-diffusion-v2-768-v"),
    hides_prediction=True,
    text=text_use,
    guess=guessed_training,
    lora=LoraSigns(CONTEXT_WIDTH, (1024,), attends_first=True),
    # No IP-Adapter was trained for it.
    architecture=StableDiffusion(image_prompts=False),
)
