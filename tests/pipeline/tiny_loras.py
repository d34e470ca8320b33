"""LoRAs of the tiny checkpoint, as patches and as numbers to compare with."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np

from backends.base import Array
from engine.families import Component, identify
from engine.families.checkpoint import ComponentSource
from engine.families.patches import ComponentPatches
from engine.pipeline.denoise.lora_stretches import PassLoras, Stretch
from engine.pipeline.picture_loras import PictureLoras
from engine.weights.patched import LowRankDifference, PatchedWeight
from engine.weights.side_branches import SideBranches
from engine.weights.sources import as_source
from tests.tiny_checkpoint import Weights
from tests.weights.files import write_sources

DENOISER, TEXT = Component.DENOISER, Component.TEXT_ENCODER
# At this scale a LoRA of strength 1 changes a picture of the tiny checkpoint throughout.
_SIZE = 0.35
Factors = dict[tuple[Component, str], tuple[Array, Array]]


def draw_factors(
    sources: Mapping[Component, ComponentSource],
    components: Collection[Component],
    rank: int,
    seed: int,
) -> Factors:
    """Draw up and down of every linear layer and convolution, float32."""
    random, drawn = np.random.default_rng(seed), dict[tuple[Component, str], tuple[Array, Array]]()
    for component in (known for known in components if known in sources):
        for name, weight in sources[component].weights.items():
            if name.endswith(".weight") and len(weight.shape) > 1 and "embedding" not in name:
                out, *inner = weight.shape
                up = random.standard_normal((out, rank, *[1] * (len(inner) - 1)))
                down = random.standard_normal((rank, *inner))
                down *= _SIZE / np.sqrt(rank * np.prod(inner))
                drawn[component, name] = up.astype(np.float32), down.astype(np.float32)
    return drawn


class TinyLora:
    """Random factors of every linear layer and convolution of denoiser and text encoder."""

    def __init__(
        self,
        folder: Path,
        checkpoint: Path,
        *,
        rank: int = 3,
        seed: int = 1,
        components: Collection[Component] = (DENOISER, TEXT),
    ) -> None:
        self.name = f"lora_{seed}_{rank}"
        self.rank = rank
        self._sources = identify(checkpoint).components
        self.factors = draw_factors(self._sources, components, rank, seed)
        arrays = {
            f"{component.value}.{name}.{part}": array
            for (component, name), factors in self.factors.items()
            for part, array in zip(("up", "down"), factors, strict=True)
        }
        self._slices = write_sources(folder / f"{self.name}.safetensors", arrays)

    def difference(self, component: Component, name: str, strength: float) -> LowRankDifference:
        """The change of a weight."""
        up, down = (self._slices[f"{component.value}.{name}.{part}"] for part in ("up", "down"))
        return LowRankDifference(up, down, strength)

    def patches(self, strength: float, text: float = 0.0) -> dict[Component, ComponentPatches]:
        """The changes to the weights, of the components whose strength is not 0."""
        strengths = {DENOISER: strength, TEXT: text}
        return {
            component: ComponentPatches(
                self.name,
                {
                    name: (self.difference(component, name, strengths[component]),)
                    for owner, name in self.factors
                    if owner is component
                },
            )
            for component in (DENOISER, TEXT)
            if strengths[component]
        }

    def merged(self, strength: float, text: float = 0.0) -> PictureLoras:
        """The LoRA merged into the weights."""
        stretch = Stretch(0, self.patches(strength, text))
        return PictureLoras((self.name, strength, text), (PassLoras((stretch,)),))

    def changed(self, weights: Weights, strength: float, text: float = 0.0) -> None:
        """Change weights to those that a merge gives, which are near the sum in float64."""
        strengths = {DENOISER: strength, TEXT: text}
        for (component, name), (up, down) in self.factors.items():
            own, rank = strengths[component], len(down)
            if own == 0:
                continue
            weight = self._sources[component].weights[name]
            merged = PatchedWeight(as_source(weight), (self.difference(component, name, own),))
            product = up.reshape(-1, rank).astype(np.float64) @ down.reshape(rank, -1)
            expected = weights[component][name] + own * product.reshape(weight.shape)
            np.testing.assert_allclose(merged.read(), expected, rtol=1e-5, atol=1e-5)
            weights[component][name][...] = merged.read()


def beside(*loras: TinyLora, strengths: Callable[[int], tuple[float, ...]]) -> PictureLoras:
    """The LoRAs as side branches of the denoiser; `strengths` are those at an evaluation."""
    layers: dict[str, list[tuple[int, LowRankDifference]]] = {}
    for number, lora in enumerate(loras):
        for component, name in lora.factors:
            if component is DENOISER:
                difference = lora.difference(component, name, 1.0)
                layers.setdefault(name.removesuffix(".weight"), []).append((number, difference))
    branches = SideBranches(
        {layer: tuple(parts) for layer, parts in layers.items()},
        tuple(lora.rank for lora in loras),
    )
    patches = {DENOISER: ComponentPatches("", {}, branches)}
    names = tuple(lora.name for lora in loras)
    return PictureLoras((names, strengths), (PassLoras((Stretch(0, patches),), strengths),))
