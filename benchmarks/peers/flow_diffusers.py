"""A step of diffusers' transformers of Flux.1 and Z-Image, with fewer blocks, in bfloat16."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import diffusers
import torch

from benchmarks.child import Answer
from benchmarks.workload import FLOW_TIMESTEP, FLOW_TOKENS, SIZE

# Latent cells along a side.
_CELLS = SIZE // 8


class FlowDiffusers:
    """A transformer of full width: `kind` is "flux" or "zimage", `sizes` its numbers of blocks."""

    def __init__(self, kind: str, sizes: Mapping[str, int]) -> None:
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        self._run = {"flux": _flux, "zimage": _zimage}[kind](sizes)

    @torch.inference_mode()
    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one step."""
        start = perf_counter()
        self._run()
        return {"seconds": perf_counter() - start}


def _flux(sizes: Mapping[str, int]):
    model = diffusers.FluxTransformer2DModel(**sizes, guidance_embeds=False).eval()
    side = _CELLS // 2
    places = torch.zeros(side, side, 3)
    places[..., 1] += torch.arange(side)[:, None]
    places[..., 2] += torch.arange(side)[None]
    given = {
        "hidden_states": torch.randn(1, side * side, 64),
        "encoder_hidden_states": torch.randn(1, FLOW_TOKENS, 4096),
        "pooled_projections": torch.randn(1, 768),
        "timestep": torch.tensor([FLOW_TIMESTEP / 1000]),
        "img_ids": places.reshape(-1, 3),
        "txt_ids": torch.zeros(FLOW_TOKENS, 3),
    }
    return lambda: model(**given)


def _zimage(sizes: Mapping[str, int]):
    model = diffusers.ZImageTransformer2DModel(**sizes).eval()
    picture = [torch.randn(16, 1, _CELLS, _CELLS)]
    time, text = torch.tensor([1 - FLOW_TIMESTEP / 1000]), [torch.randn(FLOW_TOKENS, 2560)]
    return lambda: model(picture, time, text)
