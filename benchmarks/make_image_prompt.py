"""Makes an IP-Adapter for SD 1.5 and its vision encoder, in the published sizes, of random numbers.

The sizes are those of `ip-adapter_sd15.safetensors` and of CLIP's ViT-H, as IP-Adapter's authors
publish both.
"""

import sys
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.graphs.clip_vision import ClipVisionConfig
from tests.checkpoints.arrays import write_arrays
from tests.image_prompts.files import write_encoder

_VIT_H = ClipVisionConfig(1280, 5120, 32, 16, 1024, side=224, patch=14)
_CONTEXT, _TOKENS = 768, 4
# The widths of SD 1.5's layers that attend to the text, on the way down, up and in the middle.
_WIDTHS = (320, 320, 640, 640, 1280, 1280, *(1280,) * 3, *(640,) * 3, *(320,) * 3, 1280)


def make(folder: Path) -> None:
    """Write `adapter.safetensors` and the folder `encoder`."""
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> Array:
        return random.standard_normal(shape, np.float32) / np.sqrt(shape[-1])

    wide = _TOKENS * _CONTEXT
    arrays = {
        "image_proj.proj.weight": drawn(wide, _VIT_H.projected_width),
        "image_proj.proj.bias": drawn(wide),
        "image_proj.norm.weight": np.ones(_CONTEXT, np.float32),
        "image_proj.norm.bias": np.zeros(_CONTEXT, np.float32),
    }
    for place, width in enumerate(_WIDTHS):
        for part in "kv":
            name = f"ip_adapter.{2 * place + 1}.to_{part}_ip.weight"
            arrays[name] = drawn(width, _CONTEXT)
    write_encoder(folder / "encoder", _VIT_H)
    write_arrays(folder / "adapter.safetensors", arrays, DType.F16)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
