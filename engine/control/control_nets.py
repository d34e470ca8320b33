"""ControlNets for a checkpoint: their networks, and a union's inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.base import Array
from engine.api.limits import MIN_SIDE
from engine.api.preprocessors import ControlKind
from engine.checkpoints.index import combined_digest
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.fitting import (
    borrowed_branches,
    fitted_config,
    require_family,
    whole_weights,
)
from engine.control.kinds import UNION_KINDS
from engine.control.network import BorrowedSizes, ControlNetwork
from engine.control.unet_control import UNetControl
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.families.shared.component_network import Dimensions, picture_dimensions
from engine.families.shared.unet.denoiser import context_dimensions, row_dimensions
from engine.graphs.control_net import (
    ControlNetConfig,
    control_net,
    kinds_embedding,
    map_embedding,
    map_inputs,
)
from engine.graphs.operators import GraphBuilder
from engine.text.chunks import CHUNK_LENGTH
from engine.weights.side_branches import SideBranches
from engine.weights.weight_set import WeightSet

_MAX_SIDE = 2048
_MAX_MAPS = 8
# The contexts of a prompt and its negative prompt.
_GUIDED = 2

_Emit = Callable[[GraphBuilder, ControlNetConfig], None]


@dataclass(frozen=True, slots=True, eq=False)
class ControlNetModel(UNetControl):
    """The networks of a ControlNet for one checkpoint.

    `embedding` runs once per map and `denoising` at each step. Networks are kept, so that a loaded
    network is recognised by identity.
    """

    network: ControlNetwork
    checkpoint: IdentifiedCheckpoint
    config: ControlNetConfig
    _weights: WeightSet
    _branches: SideBranches | None = None
    _networks: dict[tuple[int, ...], Network] = field(
        default_factory=dict[tuple[int, ...], Network], init=False
    )

    @classmethod
    def fitted(cls, network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> "ControlNetModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        weights = whole_weights(network, checkpoint)
        config = fitted_config(network, weights, checkpoint)
        if not isinstance(network.sizes, BorrowedSizes):
            return cls(network, checkpoint, config, WeightSet(network.digest, weights))
        loras = checkpoint.patches.get(Component.DENOISER)
        digests = network.digest, checkpoint.digest, *([loras.content] if loras else [])
        borrowed = weights.keys() - network.weights.keys()
        return cls(
            network,
            checkpoint,
            config,
            WeightSet(combined_digest(*digests), weights),
            borrowed_branches(borrowed, checkpoint),
        )

    @property
    def outputs(self) -> int:
        """The number of the outputs control.0 to control.N, one more than the skip connections."""
        return len(self.config.widths)

    @property
    def in_channels(self) -> int:
        """The number of the sample's channels: the latent's, without any concatenated ones."""
        return self.config.encoder.in_channels

    @property
    def cell(self) -> int:
        """The side in pixels of a cell of the latent, by which `denoising` counts sizes."""
        return self.checkpoint.latent.downscale

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's: the same."""
        return height, width

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that embeds maps, for a picture size in pixels.

        Its input `map` is float32 [maps, 3, height, width] in [0, 1], RGB; its output
        `map_embedding` is an input of `denoising`. Several maps are one embedding in a union, whose
        other inputs are those of `map_inputs`.
        """
        shape = height, width, maps
        if shape not in self._networks:
            sides = {"map_height": height, "map_width": width}
            self._networks[shape] = self._network(
                "control_embedding",
                map_embedding,
                {name: offered(MIN_SIDE, side, _MAX_SIDE) for name, side in sides.items()}
                | {"maps": offered(1, maps, _MAX_MAPS)},
            )
        return self._networks[shape]

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = _GUIDED,
        tokens: int = CHUNK_LENGTH,
        rows: int = 1,
    ) -> Network:
        """Return the network of a step for a picture size in pixels; see `DenoiserModel.network`.

        Its inputs are those of the denoiser (`sample` without concatenated channels),
        `map_embedding` [1, ...], those of `step_inputs` and those of `ResidualWriter`; its outputs
        control.0 to control.N, float32 [rows, channels, ...].
        """
        shape = height, width, contexts, tokens, rows
        if shape not in self._networks:
            downscale = self.checkpoint.latent.downscale
            dimensions = picture_dimensions(self.checkpoint, height, width, downscale, rows)
            dimensions |= context_dimensions(contexts, tokens) | row_dimensions(contexts)
            network = self._network("control", control_net, dimensions)
            self._networks[shape] = replace(network, branches=self._branches)
        return self._networks[shape]

    def with_loras(self, loras: ComponentPatches | None) -> "ControlNetModel":
        """Return the model for the checkpoint whose denoiser LoRAs change so.

        It is itself, for LoRAs change no ControlNet, unless it borrows the denoiser's weights.
        """
        borrows = isinstance(self.network.sizes, BorrowedSizes)
        if loras is None or not (borrows and loras.acts):
            return self
        patched = self.checkpoint.with_patches({Component.DENOISER: loras})
        return ControlNetModel.fitted(self.network, patched)

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`."""
        return dict(made)

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return the inputs of `embedding` that tell a union the kind of each map.

        None for other networks. With several maps, `weights` act here; the weight of a single map
        is that of the outputs. Raises EngineError(REQUEST_INVALID) for a kind that the network was
        not trained on.
        """
        union = self.config.union
        return map_inputs(union, self._numbers(kinds), weights) if union else {}

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the input of `denoising` that tells a union the kinds of its maps.

        None for other networks. Raises EngineError as `map_inputs`.
        """
        union = self.config.union
        if union is None:
            return {}
        return {"kinds_embedding": kinds_embedding(union, self._numbers(kinds))}

    def _numbers(self, kinds: Sequence[ControlKind]) -> list[int]:
        return [self.network.number_of(kind, UNION_KINDS) for kind in kinds]

    def _network(self, name: str, emit: _Emit, dimensions: Dimensions) -> Network:
        config = self.config
        return Network(
            name, lambda g: emit(g, config), self._weights, dimensions, self.network.name
        )
