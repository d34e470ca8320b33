"""Sizes of a CLIP text encoder, read off the shapes of its weights under canonical names.

Settings that shapes do not show (heads, activation, epsilon) are arguments: the family's constants
for a single file, the `config.json` for a folder. `folder_parts` checks the other claims of the
`config.json` against the shapes.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.clip_text import Activation, ClipTextConfig, Projection
from engine.weights.stored import StoredWeight

_HEAD_WIDTH = 64


class ClipTextFacts(msgspec.Struct, frozen=True):
    """Settings of a text encoder that its shapes do not show.

    `heads` None: one head for each 64 of the width.
    """

    heads: int | None = None
    activation: Activation = Activation.QUICK_GELU
    epsilon: float = 1e-5


_VIT_L = ClipTextFacts()


def clip_text_config(
    weights: Mapping[str, StoredWeight], path: Path, facts: ClipTextFacts = _VIT_L
) -> ClipTextConfig:
    """Read the sizes of a CLIPTextModel. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    vocabulary, width = shapes.of("text_model.embeddings.token_embedding.weight", 2)
    config = ClipTextConfig(
        vocabulary=vocabulary,
        width=width,
        mlp_width=shapes.of("text_model.encoder.layers.0.mlp.fc1.weight", 2)[0],
        layers=shapes.count("text_model.encoder.layers"),
        heads=width // _HEAD_WIDTH if facts.heads is None else facts.heads,
        positions=shapes.of("text_model.embeddings.position_embedding.weight", 2)[0],
        activation=facts.activation,
        epsilon=facts.epsilon,
    )
    check_divides(path, width, config.heads, "heads")
    return _with_projection(config, shapes)


def _with_projection(config: ClipTextConfig, shapes: Shapes) -> ClipTextConfig:
    if "text_projection.weight" in shapes:
        projected = shapes.of("text_projection.weight", 2)[0]
        return msgspec.structs.replace(
            config, projection=Projection.LINEAR, projected_width=projected
        )
    if "text_projection" in shapes:
        projected = shapes.of("text_projection", 2)[1]
        return msgspec.structs.replace(
            config, projection=Projection.MATRIX, projected_width=projected
        )
    return config
