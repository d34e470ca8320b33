"""The common work: SD 1.5 at 512 x 512, guided, from seeded inputs; and an SDXL step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PROMPT = "a red house by the sea at night, oil painting"
NEGATIVE = "blurry, low quality"
STEPS = 20
SIZE = 512
SDXL_SIZE = 1024
GUIDANCE = 7.0
SEED = 1

TEXT, DENOISER, DECODER = "text encoder", "denoiser step", "VAE decoder"
COMPONENTS = (TEXT, DENOISER, DECODER)
# The text of a step of a flow's transformer, and the noise level in thousandths.
FLOW_TOKENS, FLOW_TIMESTEP = 256, 700.0
# A ControlNet's part of a step, and the whole step.
CONTROL, CONTROLLED = "ControlNet step", "led step"

_CELLS = SIZE // 8
_TOKENS = 77
_CONTEXT_WIDTH = 768
_START_TOKEN, _END_TOKEN = 49406, 49407


def feeds(component: str, pictures: int) -> Mapping[str, Array]:
    """Return the inputs of a component, the same for every peer: `pictures` at once, guided.

    Both halves of guidance have the same latents, which `sample` holds once.
    """
    random = np.random.default_rng(0)
    if component == TEXT:
        tokens = random.integers(0, _START_TOKEN, (2 * pictures, _TOKENS))
        tokens[:, 0], tokens[:, 40:] = _START_TOKEN, _END_TOKEN
        return {"tokens": tokens}
    if component == DENOISER:
        sample = random.standard_normal((pictures, 4, _CELLS, _CELLS), np.float32)
        context = random.standard_normal((2 * pictures, _TOKENS, _CONTEXT_WIDTH), np.float32)
        return {"sample": sample, "timestep": np.array([500], np.float32), "context": context}
    return {"latent": random.standard_normal((pictures, 4, _CELLS, _CELLS), np.float32)}


def random_map() -> Array:
    """Return a map of noise for a ControlNet, float32 [1, 3, height, width] in [0, 1]."""
    return np.random.default_rng(1).random((1, 3, SIZE, SIZE), np.float32)


def sdxl_feeds() -> Mapping[str, Array]:
    """Return the inputs of one guided SDXL step at 1024 x 1024, with the latents once.

    `pooled` are the pooled text embeddings, `sizes` the six numbers of the time ids.
    """
    random = np.random.default_rng(0)
    cells, side = SDXL_SIZE // 8, float(SDXL_SIZE)
    return {
        "sample": random.standard_normal((1, 4, cells, cells), np.float32),
        "context": random.standard_normal((2, _TOKENS, 2048), np.float32),
        "pooled": random.standard_normal((2, 1280), np.float32),
        "sizes": np.array([side, side, 0, 0, side, side], np.float32),
    }
