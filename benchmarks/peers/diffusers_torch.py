"""Diffusers on torch's CPU build: the reference, and the best-known peer."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import torch
from diffusers import StableDiffusionPipeline, UNet2DConditionModel
from transformers import logging

from benchmarks.child import Answer
from benchmarks.workload import (
    DENOISER,
    GUIDANCE,
    NEGATIVE,
    PROMPT,
    SEED,
    SIZE,
    TEXT,
    feeds,
)

_DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


class Diffusers:
    """A pipeline read from a single file with a folder's configuration, or its UNet alone.

    In bfloat16 its convolutions are channels-last, which is faster; in float32 the layout makes no
    difference and stays the default.
    """

    def __init__(self, configuration: str, precision: str, checkpoint: str | None = None) -> None:
        logging.disable_progress_bar()
        self._dtype = _DTYPES[precision]
        layout = torch.channels_last if precision == "bf16" else torch.contiguous_format
        self._pipeline: Any = None
        if checkpoint is None:
            unet: Any = UNet2DConditionModel.from_pretrained(
                configuration, subfolder="unet", torch_dtype=self._dtype
            )
        else:
            self._pipeline = StableDiffusionPipeline.from_single_file(
                checkpoint, config=configuration, torch_dtype=self._dtype, local_files_only=True
            )
            self._pipeline.set_progress_bar_config(disable=True)
            self._pipeline.vae.to(memory_format=layout)
            unet = self._pipeline.unet
        self._unet = unet.eval().to(memory_format=layout)

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run a component once on the input of `pictures` pictures, or the whole "picture".

        `save` names a file for the output.
        """
        pictures = options.get("pictures", 1)
        if task == "picture":
            seconds, output = self._picture(options["steps"], pictures)
        else:
            given = {name: torch.from_numpy(array) for name, array in feeds(task, pictures).items()}
            seconds, output = self._component(task, given)
        if "save" in options:
            np.save(options["save"], output)
        return {"seconds": seconds}

    def _component(self, task: str, given: dict[str, torch.Tensor]) -> tuple[float, np.ndarray]:
        inputs = {
            name: tensor.to(self._dtype) if tensor.is_floating_point() else tensor
            for name, tensor in given.items()
        }
        start = perf_counter()
        if task == TEXT:
            output = self._pipeline.text_encoder(inputs["tokens"])[0]
        elif task == DENOISER:
            # Doubled as diffusers' pipeline does, outside the measured time.
            both = torch.cat([inputs["sample"]] * 2)
            start = perf_counter()
            output = self._unet(both, given["timestep"], inputs["context"]).sample
        else:
            output = self._pipeline.vae.decode(inputs["latent"]).sample
        seconds = perf_counter() - start
        return seconds, output.float().numpy()

    def _picture(self, steps: int, pictures: int) -> tuple[float, np.ndarray]:
        generator = torch.Generator("cpu").manual_seed(SEED)
        start = perf_counter()
        images = self._pipeline(
            PROMPT,
            negative_prompt=NEGATIVE,
            num_inference_steps=steps,
            guidance_scale=GUIDANCE,
            width=SIZE,
            height=SIZE,
            num_images_per_prompt=pictures,
            generator=generator,
        ).images
        seconds = perf_counter() - start
        return seconds, np.asarray(images[0])
