"""A network of a checkpoint's component, ready to compile.

Each knows the sizes it is wanted for now and those that the app offers, for devices that compile
for a range: pictures of 64 to 2048 pixels, up to 8 at once, up to 16 prompts.
"""

from collections.abc import Callable
from typing import TypeVar

from backends.base import DimensionRange
from engine.api.limits import MIN_SIDE
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.base import Component, IdentifiedCheckpoint
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet

_MAX_SIDE = 2048
_MAX_PICTURES = 8

Dimensions = dict[str, DimensionRange]
Config = TypeVar("Config")


def config_of(checkpoint: IdentifiedCheckpoint, component: Component, kind: type[Config]) -> Config:
    """The configuration of a component that is there. Raises TypeError where it is another's."""
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
) -> Network:
    """A network that `emit` writes with the component's weights."""
    weights = WeightSet(checkpoint.digest, checkpoint.components[component].weights)
    # So that a refiner's is not taken for that of the checkpoint before it.
    name = f"refiner_{name}" if checkpoint.refines else name
    title = checkpoint.path.stem if checkpoint.path.is_file() else checkpoint.path.name
    return Network(name, emit, weights, dimensions, title, overflows_f16)


def picture_dimensions(
    checkpoint: IdentifiedCheckpoint,
    height: int | None,
    width: int | None,
    downscale: int,
    rows: int = 1,
) -> Dimensions:
    """A batch of pictures of this size in pixels, or the usual one, `downscale` to a cell."""
    least, most = MIN_SIDE // downscale, _MAX_SIDE // downscale
    usual = checkpoint.default_size
    return {
        "batch": offered(1, rows, _MAX_PICTURES),
        "height": offered(least, (height or usual) // downscale, most),
        "width": offered(least, (width or usual) // downscale, most),
    }
