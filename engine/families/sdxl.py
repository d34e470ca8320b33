"""SDXL: CLIP ViT-L beside OpenCLIP bigG, each without its last layer, and a UNet told of sizes.

The UNet adds bigG's pooled text and six sizes (original, crop, target) to the time. SSD-1B, Vega
and KOALA are pruned versions of it; their sizes say which.
"""

from engine.families import latent_spaces
from engine.families.base import Component, TextUse
from engine.families.latent_diffusion import LatentDiffusion, unet_signs
from engine.families.sizes import ClipTextFacts, UNetFacts
from engine.graphs.clip_text import Activation
from engine.graphs.unet import UNetConfig

CONTEXT_WIDTH = 2048
# Transformer blocks on the way down, as in ComfyUI's `comfy/model_detection.py`.
_PRUNED: dict[tuple[int, ...], str] = {
    (0, 0, 2, 2, 4, 4): "SSD-1B",
    (0, 0, 1, 1, 2, 2): "Segmind Vega",
    (0, 2, 5): "KOALA-700M",
    (0, 2, 6): "KOALA-1B",
}


def recognises(text: str) -> bool:
    """Whether a UNet is told of sizes and attends to two text encoders at once."""
    signs = unet_signs(text)
    if signs is None or signs.convolutional or not signs.added:
        return False
    both = len(signs.text_widths) == 2 and sum(signs.text_widths) == signs.context_width
    return both or signs.context_width == CONTEXT_WIDTH


def pruned_name(unet: UNetConfig) -> str:
    """The name of a pruned SDXL of these sizes; empty for SDXL's own and unknown ones."""
    return _PRUNED.get(tuple(depth for block in unet.down for depth in block.depths), "")


TEXT = TextUse(
    clip_skip=2,
    final_norm=False,
    zero_padded=frozenset({Component.TEXT_ENCODER_2}),
    zeroes_empty=True,
)

FAMILY = LatentDiffusion(
    name="sdxl",
    title="SDXL",
    pipelines=(
        "StableDiffusionXLPipeline",
        "StableDiffusionXLImg2ImgPipeline",
        "StableDiffusionXLInpaintPipeline",
        "StableDiffusionXLInstructPix2PixPipeline",
    ),
    recognises=recognises,
    text_encoders={
        Component.TEXT_ENCODER: ClipTextFacts(),
        Component.TEXT_ENCODER_2: ClipTextFacts(activation=Activation.GELU),
    },
    unet=UNetFacts(heads=None),
    latents=latent_spaces.SDXL,
    default_size=1024,
    text=lambda _: TEXT,
    told_sizes=6,
    sizes_name=pruned_name,
).family()
