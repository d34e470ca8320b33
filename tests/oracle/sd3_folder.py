"""A whole pipeline of SD 3 or 3.5 of some megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch

from tests.oracle import flux_folder, sdxl_folder
from tests.oracle.sdxl_folder import NARROW, PROJECTED, WIDE, text_model

# The width of T5's states, which CLIP's, side by side, do not fill.
CONTEXT = NARROW + WIDE + 8
# By variant, what its attention has beside that of SD 3 medium.
VARIANTS = {
    "medium": {},
    "3.5-medium": {"dual_attention_layers": (0, 1), "qk_norm": "rms_norm"},
    "3.5-large": {"qk_norm": "rms_norm"},
}


def transformer(**sizes):
    """A transformer whose table of places, biases and norms are off their first values."""
    torch.manual_seed(0)
    module = diffusers.SD3Transformer2DModel(patch_size=2, **sizes).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
        elif "embedder" in name or "norm" in name:
            tensor.data.mul_(3)  # so that prompt and timestep show
    places = module.pos_embed.pos_embed
    places.add_(0.3 * torch.randn(places.shape))
    return module


def write_pipeline(folder: Path, variant: str = "medium", *, with_t5: bool = True) -> Path:
    """The whole pipeline of a variant of `VARIANTS`."""
    net = transformer(
        num_layers=3,
        attention_head_dim=32,
        num_attention_heads=2,
        joint_attention_dim=CONTEXT,
        caption_projection_dim=64,
        pooled_projection_dim=2 * PROJECTED,
        pos_embed_max_size=24,
        sample_size=16,
        **VARIANTS[variant],
    )
    torch.manual_seed(1)
    third = {"text_encoder_3": None, "tokenizer_3": None}
    if with_t5:
        third = {"text_encoder_3": flux_folder._t5(CONTEXT), "tokenizer_3": flux_folder._pieces()}
    pipe = diffusers.StableDiffusion3Pipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0),
        vae=flux_folder._vae(1.5305, 0.0609),
        text_encoder=text_model(NARROW, projects=True),
        tokenizer=sdxl_folder._words(folder / "words", "<|endoftext|>"),
        text_encoder_2=text_model(WIDE, projects=True),
        tokenizer_2=sdxl_folder._words(folder / "words_2", "a"),
        transformer=net,
        **third,
    )
    pipe.save_pretrained(folder / "sd3")
    return folder / "sd3"
