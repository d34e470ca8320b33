"""Sizes of a T5 encoder, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.t5 import EPSILON, T5Config
from engine.weights.stored import StoredWeight

_ATTENTION = "encoder.block.0.layer.0.SelfAttention"


def t5_config(
    weights: Mapping[str, StoredWeight], path: Path, epsilon: float = EPSILON
) -> T5Config:
    """Read the sizes of a T5EncoderModel. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    vocabulary, width = shapes.of("shared.weight", 2)
    buckets, heads = shapes.of(f"{_ATTENTION}.relative_attention_bias.weight", 2)
    inner = shapes.of(f"{_ATTENTION}.q.weight", 2)[0]
    check_divides(path, inner, heads, "heads")
    return T5Config(
        vocabulary=vocabulary,
        width=width,
        heads=heads,
        head_width=inner // heads,
        mlp_width=shapes.of("encoder.block.0.layer.1.DenseReluDense.wi_0.weight", 2)[0],
        layers=shapes.blocks("encoder.block", "layer.0.SelfAttention.q.weight"),
        buckets=buckets,
        epsilon=epsilon,
    )
