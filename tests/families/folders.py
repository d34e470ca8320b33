"""Diffusers folders for tests: configurations as diffusers writes them, weights sparse."""

import json
from collections.abc import Mapping
from pathlib import Path

from engine.families import Component, identify
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import Listing, UNetSizes

UNET = {
    "_class_name": "UNet2DConditionModel",
    "block_out_channels": [32, 64, 96],
    "layers_per_block": 1,
    "cross_attention_dim": 64,
    "attention_head_dim": [2, 4, 8],
    "norm_num_groups": 16,
    "sample_size": 32,
}
VAE = {
    "_class_name": "AutoencoderKL",
    "block_out_channels": [32, 64],
    "layers_per_block": 1,
    "scaling_factor": 0.5,
}
TEXT = {
    "architectures": ["CLIPTextModel"],
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_act": "gelu",
}
SCHEDULER = {
    "_class_name": "DDIMScheduler",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000,
    "prediction_type": "v_prediction",
    "trained_betas": None,
}


def canonical(folder: Path, unet: UNetSizes = listings.SMALL_UNET) -> Mapping[Component, Listing]:
    """The small checkpoint's shapes under diffusers' names, which the oracle tests prove."""
    names = listings.original(unet, listings.SMALL_VAE, listings.SMALL_CLIP)
    components = identify(write_sparse(folder / "original.safetensors", names)).components
    return {
        component: {name: tensor.shape for name, tensor in source.weights.items()}
        for component, source in components.items()
    }


def write_folder(
    path: Path,
    unet: Mapping[str, object] = UNET,
    vae: Mapping[str, object] = VAE,
    text: Mapping[str, object] = TEXT,
    scheduler: Mapping[str, object] = SCHEDULER,
) -> Path:
    """A whole small checkpoint folder, with these configurations."""
    path.mkdir(parents=True)
    shapes = canonical(path.parent)
    for name, component, config, stem in (
        ("unet", Component.DENOISER, unet, "diffusion_pytorch_model"),
        ("vae", Component.VAE, vae, "diffusion_pytorch_model"),
        ("text_encoder", Component.TEXT_ENCODER, text, "model"),
    ):
        folder = path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        write_sparse(folder / f"{stem}.safetensors", shapes[component])
    (path / "scheduler").mkdir()
    (path / "scheduler" / "scheduler_config.json").write_text(json.dumps(scheduler))
    (path / "tokenizer").mkdir()
    (path / "tokenizer" / "vocab.json").write_text("{}")
    (path / "tokenizer" / "merges.txt").write_text("")
    pipeline = {"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "x"]}
    (path / "model_index.json").write_text(json.dumps(pipeline))
    return path
