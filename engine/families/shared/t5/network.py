"""The network of a checkpoint's T5 encoder."""

from functools import partial

from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import component_network, config_of
from engine.graphs.operators import GraphBuilder
from engine.graphs.t5 import T5Config, t5_encoder
from engine.text.whole_rows import LEAST_POSITIONS

_MOST_POSITIONS = 512


def t5_network(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    positions: int,
    *,
    least: int = LEAST_POSITIONS,
    masked: bool = False,
) -> Network:
    """Return the network of a T5 encoder, for rows that usually have so many positions.

    `masked` is that of `t5_encoder`.
    """
    config = config_of(checkpoint, component, T5Config)
    emit = partial(_emit, config, masked=masked)
    tokens = offered(least, positions, _MOST_POSITIONS)
    dimensions = {"batch": offered(1, 1, 1), "tokens": tokens}
    return component_network(checkpoint, component, component.value, emit, dimensions)


def _emit(config: T5Config, g: GraphBuilder, *, masked: bool) -> None:
    t5_encoder(g, config, masked=masked)
