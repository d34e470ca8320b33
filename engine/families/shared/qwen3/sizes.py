"""Sizes of a Qwen3 decoder, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.qwen3 import EPSILON, ROTATION_BASE, Qwen3Config
from engine.weights.stored import StoredWeight

_ATTENTION = "layers.0.self_attn"


def qwen3_config(
    weights: Mapping[str, StoredWeight],
    path: Path,
    epsilon: float = EPSILON,
    rotation_base: float = ROTATION_BASE,
) -> Qwen3Config:
    """Read the sizes of a Qwen3Model. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    vocabulary, width = shapes.of("embed_tokens.weight", 2)
    head = shapes.of(f"{_ATTENTION}.q_norm.weight", 1)[0]
    inner, of_keys = (shapes.of(f"{_ATTENTION}.{part}_proj.weight", 2)[0] for part in "qk")
    check_divides(path, inner, head, "numbers of a head")
    check_divides(path, of_keys, head, "numbers of a head")
    check_divides(path, inner, of_keys, "numbers of the keys")
    check_divides(path, head, 2, "halves of a head")
    return Qwen3Config(
        vocabulary=vocabulary,
        width=width,
        heads=inner // head,
        key_heads=of_keys // head,
        head_width=head,
        mlp_width=shapes.of("layers.0.mlp.gate_proj.weight", 2)[0],
        layers=shapes.blocks("layers", "self_attn.q_proj.weight"),
        epsilon=epsilon,
        rotation_base=rotation_base,
    )
