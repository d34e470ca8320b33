"""Checkpoints as diffusers folders, with tokenizers of a hundred words."""

import json
from dataclasses import replace
from pathlib import Path

from tests.families.listings import (
    SMALL_CLIP,
    SMALL_OPEN_CLIP,
    SMALL_SDXL,
    SMALL_UNET,
    SMALL_VAE,
    Listing,
    clip_text,
)
from tests.guard.diffusers_names import diffusers_unet, diffusers_vae
from tests.guard.weights import drawn, write_safetensors
from tests.tiny_checkpoint import write_tokenizer

_UNET: dict[str, object] = {
    "_class_name": "UNet2DConditionModel",
    "block_out_channels": [32, 64, 96],
    "layers_per_block": 1,
    "cross_attention_dim": 64,
    "attention_head_dim": [2, 4, 8],
    "norm_num_groups": 16,
    "sample_size": 32,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
}
_VAE: dict[str, object] = {
    "_class_name": "AutoencoderKL",
    "block_out_channels": [32, 64],
    "layers_per_block": 1,
    "scaling_factor": 0.5,
    "latent_channels": 4,
}
_TEXT: dict[str, object] = {
    "architectures": ["CLIPTextModel"],
    "vocab_size": SMALL_CLIP.vocabulary,
    "hidden_size": 64,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_act": "gelu",
}
_SCHEDULER: dict[str, object] = {
    "_class_name": "DDIMScheduler",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000,
    "prediction_type": "epsilon",
}
_BIG_TEXT = _TEXT | {
    "architectures": ["CLIPTextModelWithProjection"],
    "hidden_size": SMALL_OPEN_CLIP.width,
    "intermediate_size": 4 * SMALL_OPEN_CLIP.width,
    "num_hidden_layers": SMALL_OPEN_CLIP.layers,
    "num_attention_heads": 3,
}
_XL_UNET = _UNET | {
    "block_out_channels": [32, 64],
    "layers_per_block": 2,
    "cross_attention_dim": SMALL_SDXL.context,
    "attention_head_dim": [2, 4],
    "addition_embed_type": "text_time",
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"],
}


def write_folder(path: Path, *, in_channels: int = 4, **scheduler: object) -> None:
    """Stable Diffusion 1; `scheduler` are fields of its scheduler's configuration."""
    unet = diffusers_unet(replace(SMALL_UNET, in_channels=in_channels))
    _write_parts(path, "StableDiffusionPipeline", _UNET | {"in_channels": in_channels}, unet)
    _write_part(path / "text_encoder", _TEXT, clip_text(SMALL_CLIP), "model")
    write_tokenizer(path / "tokenizer")
    said = json.dumps(_SCHEDULER | scheduler)
    (path / "scheduler" / "scheduler_config.json").write_text(said)


def write_sdxl_folder(path: Path) -> None:
    """SDXL, whose second tokenizer fills up with another word."""
    width = SMALL_OPEN_CLIP.width
    projecting = clip_text(SMALL_OPEN_CLIP) | {"text_projection.weight": (width, width)}
    _write_parts(path, "StableDiffusionXLPipeline", _XL_UNET, diffusers_unet(SMALL_SDXL))
    _write_part(path / "text_encoder", _TEXT, clip_text(SMALL_CLIP), "model")
    _write_part(path / "text_encoder_2", _BIG_TEXT, projecting, "model")
    write_tokenizer(path / "tokenizer")
    write_tokenizer(path / "tokenizer_2", "a")
    (path / "scheduler" / "scheduler_config.json").write_text(json.dumps(_SCHEDULER))


def _write_parts(path: Path, pipeline: str, config: dict[str, object], unet: Listing) -> None:
    """Write the files that every pipeline has; texts are not among them."""
    path.mkdir()
    (path / "model_index.json").write_text(json.dumps({"_class_name": pipeline}))
    _write_part(path / "unet", config, unet)
    _write_part(path / "vae", _VAE, diffusers_vae(SMALL_VAE))
    (path / "scheduler").mkdir()


def _write_part(
    folder: Path, config: dict[str, object], names: Listing, stem: str = "diffusion_pytorch_model"
) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / f"{stem}.safetensors", drawn(names, 0))
