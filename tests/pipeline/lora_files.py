"""LoRA files of the tiny checkpoint in kohya's dialect, for whole jobs."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from backends.base import Array
from engine.families import Component, identify
from tests.checkpoints.arrays import write_arrays
from tests.tiny_checkpoint import Weights

PREFIXES = {
    Component.DENOISER: "lora_unet_",
    Component.TEXT_ENCODER: "lora_te_",
    Component.TEXT_ENCODER_2: "lora_te2_",
}
_SIZE = 0.35


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
        self.path, random = path, np.random.default_rng(seed)
        self.changes: dict[tuple[Component, str], Array] = {}
        arrays: dict[str, Array] = dict(extra or {})
        sources = identify(checkpoint).components
        for component in (one for one in components if one in sources):
            for name, weight in sources[component].weights.items():
                if not name.endswith(".weight") or len(weight.shape) < 2 or "embedding" in name:
                    continue
                out, *inner = weight.shape
                up = random.standard_normal((out, rank, *[1] * (len(inner) - 1)))
                down = random.standard_normal((rank, *inner))
                down *= _SIZE / np.sqrt(rank * np.prod(inner)) * rank / alpha
                layer = PREFIXES[component] + name.removesuffix(".weight").replace(".", "_")
                pair = up.astype(np.float32), down.astype(np.float32)
                arrays[f"{layer}.lora_up.weight"], arrays[f"{layer}.lora_down.weight"] = pair
                arrays[f"{layer}.alpha"] = np.asarray(alpha, np.float32)
                product = pair[0].reshape(-1, rank) @ pair[1].reshape(rank, -1)
                self.changes[component, name] = product.reshape(weight.shape)
        self.scale = alpha / rank
        self.keys = len(arrays)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, arrays)

    def change(self, weights: Weights, strength: float, text: float) -> None:
        """Change weights as the file does at these strengths, in float32."""
        for (component, name), product in self.changes.items():
            own = strength if component is Component.DENOISER else text
            weights[component][name] += product * np.float32(own * self.scale)
