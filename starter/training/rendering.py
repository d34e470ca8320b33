"""Renders prompts with diffusers, to check the engine."""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from diffusers import DPMSolverMultistepScheduler, StableDiffusionPipeline
from PIL import Image

from starter.rendering import Render


@contextmanager
def diffusers_renderer(folder: Path, steps: int, guidance: float) -> Generator[Render]:
    """Yield a renderer that uses diffusers in float32 with DPM++ 2M Karras."""
    pipeline = StableDiffusionPipeline.from_pretrained(
        folder, local_files_only=True, torch_dtype=torch.float32, safety_checker=None
    )
    pipeline.scheduler = DPMSolverMultistepScheduler.from_config(
        pipeline.scheduler.config, algorithm_type="dpmsolver++", use_karras_sigmas=True
    )
    pipeline.set_progress_bar_config(disable=True)

    def render(prompts: Sequence[str], seeds: Sequence[int]) -> list[Image.Image]:
        return pipeline(
            list(prompts),
            num_inference_steps=steps,
            guidance_scale=guidance,
            generator=[torch.Generator().manual_seed(seed) for seed in seeds],
        ).images

    yield render
