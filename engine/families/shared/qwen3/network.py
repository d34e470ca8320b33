"""The network of a checkpoint's Qwen3 encoder."""

from functools import partial

from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import component_network, config_of
from engine.graphs.operators import GraphBuilder
from engine.graphs.qwen3 import Qwen3Config, qwen3_encoder
from engine.text.chat_rows import CUT_POSITIONS, MULTIPLE


def qwen3_network(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    positions: int,
    after: tuple[int, ...] | None,
) -> Network:
    """Return the network of a Qwen3 encoder whose states are those `after` some layers.

    None is all but the last layer. Rows usually have so many positions.
    """
    config = config_of(checkpoint, component, Qwen3Config)
    emit = partial(_emit, config, after or (config.layers - 1,))
    tokens = offered(MULTIPLE, positions, max(positions, CUT_POSITIONS))
    dimensions = {"batch": offered(1, 1, 1), "tokens": tokens}
    return component_network(checkpoint, component, component.value, emit, dimensions)


def _emit(config: Qwen3Config, after: tuple[int, ...], g: GraphBuilder) -> None:
    qwen3_encoder(g, config, after)
