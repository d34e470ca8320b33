"""The networks of a control network for one checkpoint, as the pipeline runs them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from backends.base import Array
from engine.api.control_rules import ControlRules
from engine.api.limits import MIN_SIDE
from engine.api.preprocessors import ControlKind
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.network import ControlNetwork
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.patches import ComponentPatches
from engine.families.shared.component_network import Dimensions
from engine.graphs.control_residuals import TokenResidualForm
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet

_MAX_SIDE = 2048


@dataclass(frozen=True, slots=True, eq=False)
class ControlModel(ABC):
    """The networks of a control network for one checkpoint.

    `embedding` runs once per map and `denoising` at each step. Networks are kept, so that a loaded
    network is recognised by identity. Methods that are not abstract are those of a network that
    embeds maps of one kind itself, and leads a denoiser that always has the inputs.
    """

    network: ControlNetwork
    checkpoint: IdentifiedCheckpoint
    _weights: WeightSet
    _networks: dict[tuple[object, ...], Network] = field(
        default_factory=dict[tuple[object, ...], Network], init=False
    )

    @abstractmethod
    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network | None:
        """Return the network that runs once per picture, for a picture size in pixels.

        Its inputs are those of `shown` and `map_inputs`. None where the checkpoint's VAE encodes
        the map.
        """

    @abstractmethod
    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = ...,
        tokens: int = ...,
        rows: int = ...,
    ) -> Network | None:
        """Return the network that runs at each step; None for one within the denoiser."""

    @property
    def cell(self) -> int:
        """The side in pixels of a cell, by which `denoising` counts sizes: one of the latent."""
        return self.checkpoint.latent.downscale

    @property
    def residuals(self) -> TokenResidualForm | None:
        """The form of residuals for which the denoiser has inputs of their own; None for none."""
        return None

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return inputs of `denoising` by the size in pixels of what the denoiser sees: none."""
        return {}

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's: the same."""
        return height, width

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps float32 [maps, 3, *map_size] in [0, 1], RGB, as inputs of `embedding`.

        Where the VAE encodes the map, it is the picture `image`.
        """
        return {"map": maps}

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`."""
        return dict(made)

    @property
    def draws_latent(self) -> bool:
        """True if a tool draws the latent of a map from the seed."""
        return False

    def encoded(self, latent: EncodedImage) -> EncodedImage:
        """Return the latent of a map, as the VAE encodes pictures, as the network sees it."""
        return latent

    def with_loras(self, loras: ComponentPatches | None) -> "ControlModel":
        """Return the model for the checkpoint whose denoiser LoRAs change so; itself mostly."""
        return self

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return the inputs of `embedding` that tell a union the kind of each map."""
        return {}

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the inputs of `denoising` that tell a union the kinds of its maps."""
        return {}

    def sees_prompt_alone(self, rules: ControlRules) -> bool:
        """Tell whether the network sees the prompt also where the denoiser sees the negative."""
        return False

    def kept(self, shape: tuple[int, ...], network: Network) -> Network:
        """Return the network of this name that was the first for a shape, or else this one."""
        return self._networks.setdefault((network.name, *shape), network)

    def network_of(
        self, name: str, emit: Callable[[GraphBuilder], None], dimensions: Dimensions
    ) -> Network:
        """Return a network of the control network's weights."""
        return Network(name, emit, self._weights, dimensions, self.network.name)


def map_dimensions(height: int, width: int) -> Dimensions:
    """Return the dimensions of a map of a size in pixels."""
    return {
        "map_height": offered(MIN_SIDE, height, _MAX_SIDE),
        "map_width": offered(MIN_SIDE, width, _MAX_SIDE),
    }
