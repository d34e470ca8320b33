"""Gathers the trained parts into `starter/safelight-starter/`: a diffusers folder, in fp16."""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import json
import shutil
from pathlib import Path

import torch
from diffusers import AutoencoderKL, PNDMScheduler, UNet2DConditionModel
from safetensors.torch import save_file
from transformers import CLIPTextModel

from starter.training.common import MODEL, RUN
from starter.training.unet import scaling_factor

INDEX = {
    "_class_name": "StableDiffusionPipeline",
    "_diffusers_version": "0.30.0",
    "feature_extractor": [None, None],
    "requires_safety_checker": False,
    "safety_checker": [None, None],
    "scheduler": ["diffusers", "PNDMScheduler"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
}

# Safelight's defaults for this model; see README.md.
HINTS = {"sampler": "dpmpp_2m", "schedule": "sgm_uniform", "steps": 20, "guidance": 2.5}


def export(folder: Path = MODEL) -> None:
    """Write the whole folder anew, without files of an earlier export."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    vae = AutoencoderKL.from_pretrained(RUN / "vae", torch_dtype=torch.float16)
    vae.register_to_config(scaling_factor=round(scaling_factor(), 5))
    vae.save_pretrained(folder / "vae")
    unet = UNet2DConditionModel.from_pretrained(RUN / "unet", torch_dtype=torch.float16)
    unet.save_pretrained(folder / "unet")
    _export_text_encoder(folder / "text_encoder")
    shutil.copytree(RUN / "tokenizer", folder / "tokenizer")
    PNDMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        skip_prk_steps=True,
        set_alpha_to_one=False,
        steps_offset=1,
    ).save_pretrained(folder / "scheduler")
    (folder / "model_index.json").write_text(json.dumps(INDEX, indent=2) + "\n")
    (folder / "safelight.json").write_text(json.dumps(HINTS) + "\n")
    _tidy(folder)


def _export_text_encoder(folder: Path) -> None:
    """Write the keys of Stable Diffusion 1's own text encoder, which all loaders know."""
    text = CLIPTextModel.from_pretrained(RUN / "text_encoder", dtype=torch.float16)
    text.save_pretrained(folder)
    state = {
        "text_model." + key.removeprefix("text_model."): value.contiguous()
        for key, value in text.state_dict().items()
        if not key.endswith("position_ids")
    }
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def _tidy(folder: Path) -> None:
    """Remove training paths, set clip_sample, make the files readable, print their size."""
    for path in folder.rglob("config.json"):
        config = json.loads(path.read_text())
        config.pop("_name_or_path", None)
        path.write_text(json.dumps(config, indent=2) + "\n")
    schedule = folder / "scheduler" / "scheduler_config.json"
    settings = {**json.loads(schedule.read_text()), "clip_sample": False}
    schedule.write_text(json.dumps(settings, indent=2) + "\n")
    files = [file for file in folder.rglob("*") if file.is_file()]
    for file in files:
        file.chmod(0o644)
    print(f"{folder}: {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
