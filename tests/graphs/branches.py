"""Side branches of random factors, and the weights that they could be merged into."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from backends.base import Array, TensorSpec
from engine.weights.patched import LowRankDifference
from engine.weights.side_branches import STRENGTHS, SideBranches
from tests.weights.files import write_sources

# A branch adds about this share to a layer's output.
_SHARE = 0.3


def _is_table(name: str) -> bool:
    return name.endswith("embedding.weight")


class RandomBranches:
    """Two LoRAs of each linear layer and convolution; the second leaves out every third layer."""

    ranks = (3, 17)

    def __init__(self, folder: Path, weights: Mapping[str, Array], seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self._weights = weights
        self._factors: dict[str, dict[int, tuple[Array, Array]]] = {}
        arrays: dict[str, Array] = {}
        named = [name for name, array in weights.items() if array.ndim > 1 and not _is_table(name)]
        for place, name in enumerate(named):
            layer, (out, *inner) = name.removesuffix(".weight"), weights[name].shape
            for number, rank in enumerate(self.ranks):
                if number and place % 3 == 0:
                    continue
                up = random.standard_normal((out, rank, *[1] * (len(inner) - 1)))
                down = random.standard_normal((rank, *inner)) * _SHARE
                down /= np.sqrt(rank * np.prod(inner))
                pair = up.astype(np.float32), down.astype(np.float32)
                self._factors.setdefault(layer, {})[number] = pair
                arrays |= {
                    f"{layer}.{number}.{part}": factor
                    for part, factor in zip("ud", pair, strict=True)
                }
        slices = write_sources(folder / "loras.safetensors", arrays)
        # The own strength of a factor, such as alpha / rank.
        self._own = 0.5
        self.branches = SideBranches(
            {
                layer: tuple(
                    (
                        number,
                        LowRankDifference(
                            slices[f"{layer}.{number}.u"], slices[f"{layer}.{number}.d"], self._own
                        ),
                    )
                    for number in factors
                )
                for layer, factors in self._factors.items()
            },
            self.ranks,
        )

    def merged(self, strengths: Sequence[float]) -> dict[str, Array]:
        """The weights with the branches merged into them."""
        found = dict(self._weights)
        for layer, factors in self._factors.items():
            weight = found[f"{layer}.weight"].astype(np.float64)
            for number, (up, down) in factors.items():
                rank = len(down)
                product = up.reshape(-1, rank).astype(np.float64) @ down.reshape(rank, -1)
                weight = weight + strengths[number] * self._own * product.reshape(weight.shape)
            found[f"{layer}.weight"] = weight.astype(np.float32)
        return found

    def feeds(self, inputs: Sequence[TensorSpec], strengths: Sequence[float]) -> dict[str, Array]:
        """The inputs of a graph that branches have."""
        return {**self.branches.factors(inputs), STRENGTHS: self.branches.strengths(strengths)}
