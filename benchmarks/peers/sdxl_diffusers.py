"""SDXL's UNet in diffusers on torch's CPU build, read from the single-file checkpoint."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from diffusers import UNet2DConditionModel

from benchmarks.child import Answer
from benchmarks.peers.timing import timed
from benchmarks.workload import sdxl_feeds

# From stabilityai/stable-diffusion-xl-base-1.0, unet/config.json.
_CONFIGURATION = {
    "sample_size": 128,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
    "block_out_channels": (320, 640, 1280),
    "transformer_layers_per_block": (1, 2, 10),
    "attention_head_dim": (5, 10, 20),
    "cross_attention_dim": 2048,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}


class SdxlDiffusers:
    """The UNet in bfloat16, channels-last, the fastest way on a processor."""

    def __init__(self, checkpoint: str, folder: str) -> None:
        with torch.device("meta"):
            empty: Any = UNet2DConditionModel(**_CONFIGURATION)
        empty.save_config(f"{folder}/unet")
        unet: Any = UNet2DConditionModel.from_single_file(
            checkpoint,
            config=folder,
            subfolder="unet",
            torch_dtype=torch.bfloat16,
            local_files_only=True,
        )
        self._unet = unet.eval().to(memory_format=torch.channels_last)

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one step; `save` names a file for the prediction."""
        given = {name: torch.from_numpy(array).bfloat16() for name, array in sdxl_feeds().items()}
        told = {
            "text_embeds": given["pooled"],
            "time_ids": torch.from_numpy(sdxl_feeds()["sizes"])[None].repeat(2, 1),
        }
        sample = torch.cat([given["sample"]] * 2)
        step = sample, torch.tensor([500.0]), given["context"]
        run = partial(self._unet, *step, added_cond_kwargs=told)
        return timed(run, options, lambda made: made.sample.float().numpy())
