"""The networks of a checkpoint's CLIP text encoders."""

import msgspec

from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.checkpoint import TEXT_ENCODERS, Component, IdentifiedCheckpoint
from engine.families.shared.component_network import component_network, config_of
from engine.graphs.clip_text import ClipTextConfig, Projection, clip_text
from engine.graphs.operators import GraphBuilder

# Two chunks are usual, of a prompt and its negative prompt; at most 64 are encoded at once.
_USUAL_ROWS, MAX_ROWS = 2, 64


def text_encoders(checkpoint: IdentifiedCheckpoint) -> tuple[Component, ...]:
    """Return the checkpoint's CLIP encoders, in the order in which embeddings are concatenated."""
    found = checkpoint.components
    return tuple(
        component
        for component in TEXT_ENCODERS
        if component in found and isinstance(found[component].config, ClipTextConfig)
    )


def text_layers(checkpoint: IdentifiedCheckpoint) -> int:
    """Return the layer count of the shallowest text encoder; 1 for a checkpoint without any."""
    layers = (
        config_of(checkpoint, component, ClipTextConfig).layers
        for component in text_encoders(checkpoint)
    )
    return min(layers, default=1)


def text_encoder(
    checkpoint: IdentifiedCheckpoint,
    clip_skip: int = 1,
    component: Component = Component.TEXT_ENCODER,
    *,
    final_norm: bool = True,
    masked: bool = False,
    inserting: bool = False,
    pools_states: bool = False,
) -> Network:
    """Return the network of a text encoder, without its last `clip_skip` - 1 layers.

    `final_norm`, `masked` (`attention_mask`) and `inserting` (`inserted`) are those of `clip_text`;
    with `pools_states` the pooled output is not projected.
    """
    config = config_of(checkpoint, component, ClipTextConfig)
    if pools_states:
        config = msgspec.structs.replace(config, projection=Projection.NONE)

    def emit(g: GraphBuilder) -> None:
        clip_text(
            g,
            config,
            clip_skip,
            final_norm=final_norm,
            attention_mask=masked,
            inserted=inserting,
        )

    return component_network(
        checkpoint,
        component,
        component.value,
        emit,
        {"batch": offered(1, _USUAL_ROWS, MAX_ROWS)},
    )
