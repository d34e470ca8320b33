"""Making the network of a checkpoint's component, ready to compile.

Each dimension has the size needed now and the range that the app offers, for devices that compile
for a range: pictures of 64 to 2048 pixels a side, up to 8 at once.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from backends.base import DimensionRange
from engine.api.limits import MIN_SIDE
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.checkpoint import Component, IdentifiedCheckpoint, name_of
from engine.graphs.operators import GraphBuilder

_MAX_SIDE = 2048
_MAX_PICTURES = 8

Dimensions = dict[str, DimensionRange]
Config = TypeVar("Config")


def config_of(checkpoint: IdentifiedCheckpoint, component: Component, kind: type[Config]) -> Config:
    """Return the configuration of an existing component. Raises TypeError if not of type `kind`."""
    config = checkpoint.components[component].config
    if not isinstance(config, kind):
        raise TypeError(f"the {component.value} has a {type(config).__name__}")
    return config


def component_network(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    name: str,
    emit: Callable[[GraphBuilder], None],
    dimensions: Dimensions,
    *,
    overflows_f16: bool = False,
    least_sizes: Mapping[str, int] | None = None,
) -> Network:
    """Return the network that `emit` writes, bound to the component's weights with its patches.

    `overflows_f16`: the network's activations exceed the range of float16. `least_sizes` are those
    of its smallest run, if many runs follow (`Network.least_sizes`).
    """
    weights = checkpoint.weights_of(component)
    patches = checkpoint.patches.get(component)
    if patches is not None and any(patches.merged.values()):
        weights = weights.patched(patches.content, patches.merged)
    branches = patches.branches if patches else None
    emit = _wrapping(emit, checkpoint.changes.wraps)
    return Network(
        f"{checkpoint.network_prefix}{name}",
        emit,
        weights,
        dimensions,
        name_of(checkpoint.path),
        overflows_f16=overflows_f16,
        branches=branches,
        least_sizes=least_sizes or {},
    )


def _wrapping(
    emit: Callable[[GraphBuilder], None], wraps: tuple[bool, bool]
) -> Callable[[GraphBuilder], None]:
    """Return a function that emits the same network, whose images wrap along some axes."""
    if not any(wraps):
        return emit

    def emit_wrapping(g: GraphBuilder) -> None:
        g.wraps = wraps
        emit(g)

    return emit_wrapping


def picture_dimensions(
    checkpoint: IdentifiedCheckpoint,
    height: int | None,
    width: int | None,
    downscale: int,
    rows: int = 1,
) -> Dimensions:
    """Return the dimensions of a batch of `rows` pictures, in cells of `downscale` pixels.

    `height` and `width` are in pixels; None is the checkpoint's default size.
    """
    least, most = MIN_SIDE // downscale, _MAX_SIDE // downscale
    usual = checkpoint.default_size
    return {
        "batch": offered(1, rows, _MAX_PICTURES),
        "height": offered(least, (height or usual) // downscale, most),
        "width": offered(least, (width or usual) // downscale, most),
    }
