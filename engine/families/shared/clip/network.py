"""The networks of a checkpoint's CLIP text encoders."""

from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import component_network, config_of
from engine.graphs.clip_text import ClipTextConfig, clip_text

# A prompt and its negative; and as many chunks as are encoded at once.
_USUAL_ROWS, MAX_ROWS = 2, 64

TEXT_ENCODERS = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)


def text_encoders(checkpoint: IdentifiedCheckpoint) -> tuple[Component, ...]:
    """The checkpoint's text encoders, in the order in which their embeddings are joined."""
    return tuple(one for one in TEXT_ENCODERS if one in checkpoint.components)


def text_layers(checkpoint: IdentifiedCheckpoint) -> int:
    """The layers of the shallowest text encoder; 1 where there is none."""
    layers = (
        config_of(checkpoint, one, ClipTextConfig).layers for one in text_encoders(checkpoint)
    )
    return min(layers, default=1)


def text_encoder(
    checkpoint: IdentifiedCheckpoint,
    clip_skip: int = 1,
    component: Component = Component.TEXT_ENCODER,
    *,
    final_norm: bool = True,
    masked: bool = False,
) -> Network:
    """Tokens to embeddings, stopping `clip_skip` - 1 layers early; see `clip_text`."""
    config = config_of(checkpoint, component, ClipTextConfig)
    return component_network(
        checkpoint,
        component,
        component.value,
        lambda g: clip_text(g, config, clip_skip, final_norm=final_norm, attention_mask=masked),
        {"batch": offered(1, _USUAL_ROWS, MAX_ROWS)},
    )
