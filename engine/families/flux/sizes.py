"""Sizes of Flux.1's transformer, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.families.shared.flux.sizes import flux_sizes
from engine.families.shared.keys.shapes import Shapes
from engine.graphs.flux import FluxConfig
from engine.weights.stored import StoredWeight

_EMBEDDING = "time_text_embed"


def flux_config(
    weights: Mapping[str, StoredWeight], path: Path, axes: tuple[int, int, int] | None = None
) -> FluxConfig:
    """Read the sizes of a transformer; `axes` as in `flux_sizes`. Raises EngineError."""
    shapes = Shapes(weights, path)
    return FluxConfig(
        **msgspec.structs.asdict(flux_sizes(shapes, path, axes)),
        pooled_width=shapes.of(f"{_EMBEDDING}.text_embedder.linear_1.weight", 2)[1],
        takes_guidance=f"{_EMBEDDING}.guidance_embedder.linear_1.weight" in shapes,
    )
