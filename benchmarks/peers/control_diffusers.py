"""A step of diffusers' denoiser led by its ControlNet, on torch's CPU build in bfloat16."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Mapping
from typing import Any

import torch
from diffusers import ControlNetModel, UNet2DConditionModel

from benchmarks.child import Answer
from benchmarks.peers.timing import timed
from benchmarks.workload import DENOISER, feeds, random_map


class ControlDiffusers:
    """A UNet and a ControlNet with channels last, as diffusers' pipeline runs them."""

    def __init__(self, configuration: str, network: str) -> None:
        made = (
            UNet2DConditionModel.from_pretrained(
                configuration, subfolder="unet", torch_dtype=torch.bfloat16
            ),
            ControlNetModel.from_pretrained(network, torch_dtype=torch.bfloat16),
        )
        self._unet, self._control = (
            network.eval().to(memory_format=torch.channels_last) for network in made
        )

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run both networks once; `save` names a file for the prediction."""
        given = {name: torch.from_numpy(array) for name, array in feeds(DENOISER, 1).items()}
        sample = torch.cat([given["sample"]] * 2).bfloat16()
        text, time = given["context"].bfloat16(), given["timestep"]
        shown = torch.cat([torch.from_numpy(random_map())] * 2).bfloat16()

        def run() -> torch.Tensor:
            down, middle = self._control(sample, time, text, shown, return_dict=False)
            return self._unet(
                sample,
                time,
                text,
                down_block_additional_residuals=down,
                mid_block_additional_residual=middle,
            ).sample

        return timed(run, options, lambda made: made.float().numpy())
