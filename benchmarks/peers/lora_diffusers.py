"""Diffusers' whole pipeline on torch's CPU build, which loads LoRAs and fuses them."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import diffusers
import torch
from transformers import logging

from benchmarks.child import Answer
from tests.oracle.published import BY_FAMILY, write_configs


class LoraDiffusers:
    """A pipeline in bfloat16, channels-last: the fastest way on a processor."""

    def __init__(self, checkpoint: str, family: str) -> None:
        logging.disable_progress_bar()
        published = BY_FAMILY[family]
        with tempfile.TemporaryDirectory() as folder:
            self._pipeline: Any = getattr(diffusers, published.pipeline).from_single_file(
                checkpoint,
                config=str(write_configs(Path(folder), published)),
                torch_dtype=torch.bfloat16,
                local_files_only=True,
            )
        self._pipeline.unet.to(memory_format=torch.channels_last)
        self._fused = False

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Take the LoRA `file` in at `strength`; an earlier one is taken out before.

        The task "load" reads the file and fuses it; "fuse" fuses the loaded one anew, after the old
        strength was taken out, which counts.
        """
        if task == "load" and self._fused:
            self._pipeline.unfuse_lora()
            self._pipeline.unload_lora_weights()
        start = perf_counter()
        if task == "load":
            self._pipeline.load_lora_weights(options["file"])
        else:
            self._pipeline.unfuse_lora()
        self._pipeline.fuse_lora(lora_scale=options["strength"])
        self._fused = True
        return {"seconds": perf_counter() - start}
