"""Texts of tools that cannot be run for them, after the source that each names."""

import json
from typing import Any

# SwarmUI: the keys of the example in its docs/Image Metadata Format.md.
SWARM: dict[str, Any] = {
    "sui_image_params": {
        "prompt": "a photo of a cat",
        "model": "OfficialStableDiffusion/sd_xl_base_1.0",
        "seed": 1,
        "steps": 20,
        "cfgscale": 7.0,
        "aspectratio": "1:1",
        "width": 1024,
        "height": 768,
        "automaticvae": True,
        "negativeprompt": "",
        "swarm_version": "0.9.3.1",
    },
    "sui_extra_data": {"date": "2025-01-25"},
    "sui_models": [{"name": "sd_xl_base_1.0.safetensors", "param": "model", "hash": None}],
}


# NovelAI: the keys of a Comment that its third network wrote.
NOVELAI: dict[str, Any] = {
    "prompt": "{granblue}, [[house]] (sea), 1girl",
    "steps": 28,
    "height": 1216,
    "width": 832,
    "scale": 5.0,
    "uncond_scale": 1.0,
    "cfg_rescale": 0.2,
    "seed": 3816166865,
    "n_samples": 1,
    "hide_debug_overlay": False,
    "noise_schedule": "karras",
    "sampler": "k_euler_ancestral",
    "controlnet_strength": 1.0,
    "controlnet_model": None,
    "dynamic_thresholding": False,
    "dynamic_thresholding_percentile": 0.999,
    "dynamic_thresholding_mimic_scale": 10.0,
    "sm": True,
    "sm_dyn": False,
    "skip_cfg_below_sigma": 0.0,
    "lora_unet_weights": None,
    "uc": "nsfw, {bad}",
    "request_type": "PromptGenerateRequest",
}


def novelai(source: str) -> tuple[tuple[str, str], ...]:
    return (
        ("Title", "AI generated image"),
        ("Description", "{granblue}, [[house]] (sea), 1girl"),
        ("Software", "NovelAI"),
        ("Source", source),
        ("Comment", json.dumps(NOVELAI)),
    )


# InvokeAI: CoreMetadataInvocation of invocations/metadata.py.
INVOKE: dict[str, Any] = {
    "generation_mode": "txt2img",
    "positive_prompt": "a red house++",
    "negative_prompt": "rain",
    "width": 512,
    "height": 640,
    "seed": 2885716361,
    "rand_device": "cpu",
    "cfg_scale": 7.5,
    "cfg_rescale_multiplier": 0.1,
    "steps": 30,
    "scheduler": "dpmpp_2m_sde_k",
    "seamless_x": False,
    "seamless_y": False,
    "clip_skip": 1,
    "model": {"key": "f1", "hash": "blake3:00", "name": "dream", "base": "sd-1", "type": "main"},
    "loras": [{"model": {"key": "f2", "name": "ink", "base": "sd-1"}, "weight": 0.75}],
    "vae": {"key": "f3", "name": "soft"},
    "app_version": "6.0.0",
}


# stable-diffusion.cpp: examples/common/common.cpp, get_image_params.
SDCPP = (
    "a red house <lora:ink:0.8>, 猫\nNegative prompt: rain\nSteps: 20, CFG scale: 7.000000, "
    "Guidance: 3.500000, Eta: inf, Seed: 42, Size: 512x768, Model: dream.safetensors, RNG: cuda, "
    "Sampler: euler_a karras, VAE: soft.safetensors, Clip skip: 2, Version: stable-diffusion.cpp, "
    'SDCPP: {"schema":"sdcpp.image.params/v1","prompt":{"positive":"a, b: c"}}'
)
