"""LoRA files of the tiny checkpoint in kohya's dialect, for whole jobs."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from backends.base import Array
from engine.families import Component, identify
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.tiny_loras import draw_factors
from tests.tiny_checkpoint import Weights

PREFIXES = {
    Component.DENOISER: "lora_unet_",
    Component.TEXT_ENCODER: "lora_te_",
    Component.TEXT_ENCODER_2: "lora_te2_",
}


class FileLora:
    """A LoRA file of every linear layer and convolution, and the changes that it stands for."""

    def __init__(
        self,
        path: Path,
        checkpoint: Path,
        *,
        rank: int = 4,
        alpha: float = 2.0,
        seed: int = 1,
        components: Collection[Component] = tuple(PREFIXES),
        extra: dict[str, Array] | None = None,
    ) -> None:
        self.path = path
        self.changes: dict[tuple[Component, str], Array] = {}
        arrays: dict[str, Array] = dict(extra or {})
        sources = identify(checkpoint).components
        factors = draw_factors(sources, components, rank, seed)
        for (component, name), (up, drawn) in factors.items():
            down = drawn * np.float32(rank / alpha)
            layer = PREFIXES[component] + name.removesuffix(".weight").replace(".", "_")
            arrays[f"{layer}.lora_up.weight"], arrays[f"{layer}.lora_down.weight"] = up, down
            arrays[f"{layer}.alpha"] = np.asarray(alpha, np.float32)
            product = up.reshape(-1, rank) @ down.reshape(rank, -1)
            self.changes[component, name] = product.reshape(len(up), *down.shape[1:])
        self.scale = alpha / rank
        self.keys = len(arrays)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, arrays)

    def change(self, weights: Weights, strength: float, text: float) -> None:
        """Change weights as the file does at these strengths, in float32."""
        for (component, name), product in self.changes.items():
            own = strength if component is Component.DENOISER else text
            weights[component][name] += product * np.float32(own * self.scale)
