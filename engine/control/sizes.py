"""Sizes of a ControlNet, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

from engine.families.shared.keys.shapes import Shapes
from engine.families.shared.unet.sizes import UNetFacts, encoder_config
from engine.graphs.control_net import ControlNetConfig, UnionConfig
from engine.weights.sources import Weight

_MAPS = "controlnet_cond_embedding"
FIRST = f"{_MAPS}.conv_in.weight"
_UNION = "task_embedding"


def control_net_config(
    weights: Mapping[str, Weight], facts: UNetFacts, path: Path
) -> ControlNetConfig:
    """Read the sizes of a ControlNet. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    first = shapes.of(FIRST, 4)
    # Each second convolution has half the height and width, and other channels.
    halvings = shapes.count(f"{_MAPS}.blocks") // 2
    widths = (shapes.of(f"{_MAPS}.blocks.{2 * i + 1}.weight", 4)[0] for i in range(halvings))
    return ControlNetConfig(
        encoder=encoder_config(weights, facts, path),
        map_channels=first[1],
        map_widths=(first[0], *widths),
        union=_union(shapes) if _UNION in shapes else None,
    )


def _union(shapes: Shapes) -> UnionConfig:
    kinds = shapes.of(_UNION, 2)[0]
    waves = shapes.of("control_add_embedding.linear_1.weight", 2)[1] // kinds
    return UnionConfig(kinds, waves, shapes.count("transformer_layes"))
