"""Sizes of Chroma's transformer, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.families.shared.flux.sizes import flux_sizes
from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.chroma import APPROXIMATOR, ChromaConfig
from engine.weights.stored import StoredWeight


def chroma_config(
    weights: Mapping[str, StoredWeight], path: Path, axes: tuple[int, int, int] | None = None
) -> ChromaConfig:
    """Read the sizes of a transformer; `axes` as in `flux_sizes`. Raises EngineError."""
    shapes = Shapes(weights, path)
    inner, waves = shapes.of(f"{APPROXIMATOR}.in_proj.weight", 2)
    check_divides(path, waves, 8, "sinusoids of a modulation")
    return ChromaConfig(
        **msgspec.structs.asdict(flux_sizes(shapes, path, axes)),
        waves=waves,
        approximator_width=inner,
        approximator_layers=shapes.blocks(f"{APPROXIMATOR}.layers", "linear_1.weight"),
    )
