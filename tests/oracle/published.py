"""Published configurations of Stable Diffusion's pipelines, as folders that diffusers reads.

Values are those of the `config.json` files of runwayml/stable-diffusion-v1-5,
stabilityai/stable-diffusion-2-1, stable-diffusion-xl-base-1.0 and stable-diffusion-xl-refiner-1.0
on Hugging Face. A folder has no weights: those are the single file's.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import diffusers
import transformers
from accelerate import init_empty_weights

from tests.oracle.test_tokenizer import save_packaged

_CROSS = ("CrossAttnDownBlock2D",) * 3
_SD1 = {
    "sample_size": 64,
    "block_out_channels": (320, 640, 1280, 1280),
    "down_block_types": (*_CROSS, "DownBlock2D"),
    "up_block_types": ("UpBlock2D", *("CrossAttnUpBlock2D",) * 3),
    "cross_attention_dim": 768,
    "attention_head_dim": 8,
}
_SD2 = _SD1 | {
    "sample_size": 96,
    "cross_attention_dim": 1024,
    "attention_head_dim": (5, 10, 20, 20),
    "use_linear_projection": True,
}
_ADDED = {"addition_embed_type": "text_time", "addition_time_embed_dim": 256}
_SDXL = _ADDED | {
    "sample_size": 128,
    "block_out_channels": (320, 640, 1280),
    "down_block_types": ("DownBlock2D", *("CrossAttnDownBlock2D",) * 2),
    "up_block_types": (*("CrossAttnUpBlock2D",) * 2, "UpBlock2D"),
    "transformer_layers_per_block": (1, 2, 10),
    "cross_attention_dim": 2048,
    "attention_head_dim": (5, 10, 20),
    "use_linear_projection": True,
    "projection_class_embeddings_input_dim": 2816,
}
_REFINER = _SDXL | {
    "block_out_channels": (384, 768, 1536, 1536),
    "down_block_types": ("DownBlock2D", *("CrossAttnDownBlock2D",) * 2, "DownBlock2D"),
    "up_block_types": ("UpBlock2D", *("CrossAttnUpBlock2D",) * 2, "UpBlock2D"),
    "transformer_layers_per_block": 4,
    "cross_attention_dim": 1280,
    "attention_head_dim": (6, 12, 24, 24),
    "projection_class_embeddings_input_dim": 2560,
}
_VAE = {
    "block_out_channels": (128, 256, 512, 512),
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "layers_per_block": 2,
    "latent_channels": 4,
    "sample_size": 512,
}
_CLIP = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "projection_dim": 768,
    "hidden_act": "quick_gelu",
}
_OPEN_CLIP_H = _CLIP | {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 23,
    "num_attention_heads": 16,
    "projection_dim": 512,
    "hidden_act": "gelu",
}
_OPEN_CLIP_G = _CLIP | {
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "num_hidden_layers": 32,
    "num_attention_heads": 20,
    "projection_dim": 1280,
    "hidden_act": "gelu",
}


@dataclass(frozen=True)
class Published:
    """A pipeline, and the configurations of its parts."""

    pipeline: str
    unet: dict
    text: dict | None
    big_text: dict | None = None
    scale: float = 0.18215
    more: dict = field(default_factory=dict)
    vae: dict = field(default_factory=lambda: _VAE)

    def with_channels(self, channels: int, pipeline: str) -> "Published":
        """The same for another kind of UNet input."""
        return replace(self, pipeline=pipeline, unet=self.unet | {"in_channels": channels})


_PLAIN = "StableDiffusionPipeline"
_SAFE = {"safety_checker": [None, None], "feature_extractor": [None, None]}
SD1 = Published(_PLAIN, _SD1, _CLIP, more=_SAFE | {"requires_safety_checker": False})
SD2 = replace(SD1, unet=_SD2, text=_OPEN_CLIP_H)
SDXL = Published("StableDiffusionXLPipeline", _SDXL, _CLIP, _OPEN_CLIP_G, 0.13025)
REFINER = Published(
    "StableDiffusionXLImg2ImgPipeline",
    _REFINER,
    None,
    _OPEN_CLIP_G,
    0.13025,
    {"requires_aesthetics_score": True, "force_zeros_for_empty_prompt": False},
)

# The pipelines of the benchmarks' full-size checkpoints.
BY_FAMILY = {"sd15": SD1, "sdxl": SDXL}


def write_configs(folder: Path, published: Published) -> Path:
    """Write the folder, as `config=` of `from_single_file` wants it."""
    index: dict = {"_class_name": published.pipeline, **published.more}
    with init_empty_weights():
        diffusers.UNet2DConditionModel(**published.unet).save_config(folder / "unet")
        vae = diffusers.AutoencoderKL(**published.vae, scaling_factor=published.scale)
    vae.save_config(folder / "vae")
    index |= {"unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"]}
    scheduler = diffusers.DDIMScheduler(
        beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1
    )
    scheduler.save_config(folder / "scheduler")
    index["scheduler"] = ["diffusers", "DDIMScheduler"]
    for number, text in (("", published.text), ("_2", published.big_text)):
        kind = "CLIPTextModelWithProjection" if number else "CLIPTextModel"
        index[f"text_encoder{number}"] = ["transformers", kind] if text else [None, None]
        index[f"tokenizer{number}"] = ["transformers", "CLIPTokenizer"] if text else [None, None]
        if text:
            transformers.CLIPTextConfig(**text).save_pretrained(folder / f"text_encoder{number}")
            (folder / f"tokenizer{number}").mkdir()
            save_packaged(folder / f"tokenizer{number}")
    if not published.big_text:
        del index["text_encoder_2"], index["tokenizer_2"]
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder
