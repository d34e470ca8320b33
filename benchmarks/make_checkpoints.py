"""Makes full-size SD 1.5 checkpoints of random weights, in the usual layouts.

Three files of the same numbers: the UNet in a diffusers folder in float32, and a whole checkpoint
as a single file in the original layout, in float32 and in float16, with every key of the published
`v1-5-pruned-emaonly.safetensors`. The mapping of original keys to weights is found by running
diffusers' own single-file conversion on numbered marks instead of weights. Reading the file back
with diffusers verifies the result.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import diffusers
import numpy as np
import torch
import transformers
from diffusers.loaders import single_file_utils
from safetensors.torch import save_file

from benchmarks.checkpoints import Checkpoints
from engine.text.tokenizers import load_clip_tokenizer
from tests.families.listings import CLIP, UNET, VAE, original

_SEED = 0
# The published numbers of keys by prefix; the text encoder's include position_ids.
_PUBLISHED_KEYS = {UNET: 686, VAE: 248, CLIP: 197}


def make(folder: Path) -> None:
    """Write every file. Raises AssertionError if diffusers would read different weights."""
    diffusers.logging.set_verbosity_error()
    diffusers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    files = Checkpoints(folder)
    modules = _modules()
    files.configuration.mkdir(exist_ok=True)
    _write_configuration(files.configuration, modules)
    _write_single_files(files, _original_tensors(modules))
    _prove(files, modules)


def _modules() -> dict[str, torch.nn.Module]:
    """Return the three networks, built and initialised by their libraries, by original prefix."""
    torch.manual_seed(_SEED)
    levels = 4
    vae = diffusers.AutoencoderKL(
        block_out_channels=(128, 256, 512, 512),
        down_block_types=("DownEncoderBlock2D",) * levels,
        up_block_types=("UpDecoderBlock2D",) * levels,
        layers_per_block=2,
        latent_channels=4,
        sample_size=512,
    )
    # The defaults are SD 1.5's sizes except for the context and the latent's size.
    unet = diffusers.UNet2DConditionModel(
        sample_size=64, cross_attention_dim=768, attention_head_dim=8
    )
    sizes = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
    text = transformers.CLIPTextModel(transformers.CLIPTextConfig(projection_dim=768, **sizes))
    return {UNET: unet.eval(), VAE: vae.eval(), CLIP: text.eval()}


def _write_configuration(folder: Path, modules: Mapping[str, torch.nn.Module]) -> None:
    """Write a diffusers folder whose only weights are the UNet's."""
    tokenizer_files = folder / "tokenizer"
    tokenizer_files.mkdir(exist_ok=True)
    packaged = json.loads(load_clip_tokenizer()._bpe.to_str())["model"]
    vocabulary, merges = tokenizer_files / "vocab.json", tokenizer_files / "merges.txt"
    vocabulary.write_text(json.dumps(packaged["vocab"]), "utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in packaged["merges"])]
    merges.write_text("\n".join(lines) + "\n", "utf-8")
    pipeline = diffusers.StableDiffusionPipeline(
        vae=modules[VAE],
        text_encoder=modules[CLIP],
        tokenizer=transformers.CLIPTokenizer(str(vocabulary), str(merges), model_max_length=77),
        unet=modules[UNET],
        # The levels that our "normal" schedule visits.
        scheduler=diffusers.EulerDiscreteScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            timestep_spacing="linspace",
            steps_offset=1,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_config(folder)
    pipeline.tokenizer.save_pretrained(tokenizer_files)
    pipeline.scheduler.save_pretrained(folder / "scheduler")
    pipeline.vae.save_config(folder / "vae")
    pipeline.text_encoder.config.save_pretrained(folder / "text_encoder")
    pipeline.unet.save_pretrained(folder / "unet", max_shard_size="10GB")


def _original_tensors(modules: Mapping[str, torch.nn.Module]) -> dict[str, torch.Tensor]:
    """Return every weight under its original key and in its original shape."""
    listing = original()
    keys = list(listing)
    # Each key's place in the listing as a tensor; after the conversion it shows where the key went.
    marks = {
        key: torch.full((1,) * len(listing[key]), float(i), dtype=torch.float64)
        for i, key in enumerate(keys)
    }
    converted = {
        UNET: single_file_utils.convert_ldm_unet_checkpoint(marks, dict(modules[UNET].config)),
        VAE: single_file_utils.convert_ldm_vae_checkpoint(marks, dict(modules[VAE].config)),
        CLIP: single_file_utils.convert_ldm_clip_checkpoint(marks),
    }
    tensors: dict[str, torch.Tensor] = {}
    for prefix, module in modules.items():
        weights = _with_text_model(module.state_dict()) if prefix == CLIP else module.state_dict()
        assert weights.keys() == converted[prefix].keys()
        for name, mark in converted[prefix].items():
            key = keys[int(mark.item())]
            tensors[key] = weights[name].reshape(listing[key])
    assert tensors.keys() == listing.keys()
    return tensors


def _with_text_model(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights by their names in files: transformers 5 dropped `text_model.`."""
    return {f"text_model.{name.removeprefix('text_model.')}": t for name, t in weights.items()}


def _leftovers() -> dict[str, torch.Tensor]:
    """Return the published file's training leftovers: noise schedule and EMA counters."""
    betas = np.linspace(0.00085**0.5, 0.012**0.5, 1000) ** 2
    products = np.cumprod(1 - betas)
    before = np.append(1.0, products[:-1])
    variance = betas * (1 - before) / (1 - products)
    arrays = {
        "betas": betas,
        "alphas_cumprod": products,
        "alphas_cumprod_prev": before,
        "sqrt_alphas_cumprod": np.sqrt(products),
        "sqrt_one_minus_alphas_cumprod": np.sqrt(1 - products),
        "log_one_minus_alphas_cumprod": np.log(1 - products),
        "sqrt_recip_alphas_cumprod": np.sqrt(1 / products),
        "sqrt_recipm1_alphas_cumprod": np.sqrt(1 / products - 1),
        "posterior_variance": variance,
        "posterior_log_variance_clipped": np.log(np.maximum(variance, 1e-20)),
        "posterior_mean_coef1": betas * np.sqrt(before) / (1 - products),
        "posterior_mean_coef2": (1 - before) * np.sqrt(1 - betas) / (1 - products),
        "model_ema.decay": np.array(0.9999),
    }
    tensors = {name: torch.from_numpy(a.astype(np.float32)) for name, a in arrays.items()}
    position_ids = f"{CLIP}text_model.embeddings.position_ids"
    counters = {"model_ema.num_updates": torch.tensor(470000, dtype=torch.int32)}
    return tensors | counters | {position_ids: torch.arange(77)[None]}


def _write_single_files(files: Checkpoints, tensors: Mapping[str, torch.Tensor]) -> None:
    everything = {**tensors, **_leftovers()}
    for prefix, count in _PUBLISHED_KEYS.items():
        assert sum(key.startswith(prefix) for key in everything) == count
    save_file(everything, files.f32, {"format": "pt"})
    halves = {key: t.half() if t.is_floating_point() else t for key, t in everything.items()}
    save_file(halves, files.f16, {"format": "pt"})


def _prove(files: Checkpoints, modules: Mapping[str, torch.nn.Module]) -> None:
    """Assert that diffusers reads from the single file exactly the weights written to it."""
    pipeline = diffusers.StableDiffusionPipeline.from_single_file(
        str(files.f32), config=str(files.configuration), local_files_only=True
    )
    read = {UNET: pipeline.unet, VAE: pipeline.vae, CLIP: pipeline.text_encoder}
    for prefix, module in modules.items():
        theirs = read[prefix].state_dict()
        for name, weight in module.state_dict().items():
            if not torch.equal(theirs[name], weight):
                raise AssertionError(f"diffusers reads another {prefix}{name}")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
