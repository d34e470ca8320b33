"""ControlNets of Flux.1 for a checkpoint: their networks, and the inputs of a union."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from backends.base import Array
from engine.api.limits import MIN_SIDE
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.fitting import require_family
from engine.control.kinds import FLUX_UNION_KINDS
from engine.control.network import ControlNetwork
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.patches import ComponentPatches
from engine.families.shared.component_network import config_of, picture_dimensions
from engine.families.shared.flow.denoiser import (
    LEAST_TOKENS,
    MAX_CONTEXTS,
    MOST_PATCHES,
    MOST_TOKENS,
)
from engine.graphs.control_residuals import ResidualForm
from engine.graphs.flux import PATCH, FluxConfig
from engine.graphs.flux_control import FluxControlConfig, flux_control, map_tokens
from engine.graphs.flux_places import rotations
from engine.weights.weight_set import WeightSet

_MAX_SIDE, _MAX_ROWS = 2048, 16
EMBEDDING = "map_embedding"


@dataclass(frozen=True, slots=True, eq=False)
class FluxNetModel:
    """The networks of a ControlNet of Flux.1 for one checkpoint.

    `embedding` runs once per map: the VAE's encoder, unless the network embeds pixels itself.
    """

    network: ControlNetwork
    checkpoint: IdentifiedCheckpoint
    config: FluxControlConfig
    _weights: WeightSet
    _networks: dict[tuple[int, ...], Network] = field(
        default_factory=dict[tuple[int, ...], Network], init=False
    )

    @classmethod
    def fitted(
        cls, network: ControlNetwork, config: FluxControlConfig, checkpoint: IdentifiedCheckpoint
    ) -> "FluxNetModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        own = config_of(checkpoint, Component.DENOISER, FluxConfig)
        if _sizes(config) != _sizes(own) or (config.takes_guidance and not own.takes_guidance):
            raise EngineError(
                ErrorCode.CHECKPOINT_MISMATCH,
                sentence(
                    "{path} is for a transformer of other sizes than that of {checkpoint}.",
                    path=network.path.name,
                    checkpoint=checkpoint.path.name,
                ),
                sentence("Choose a control network that was made for this model."),
            )
        if not config.embeds_pixels:
            checkpoint.architecture.autoencoder.require_encoder()
        return cls(network, checkpoint, config, WeightSet(network.digest, network.weights))

    @property
    def cell(self) -> int:
        """The side in pixels of a cell of the latent, by which `denoising` counts sizes."""
        return self.checkpoint.latent.downscale

    @property
    def encodes(self) -> bool:
        """True where `embedding` is the VAE's encoder."""
        return not self.config.embeds_pixels

    @property
    def residuals(self) -> ResidualForm:
        """The form of the residuals, for which the denoiser has inputs."""
        return self.config.form

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's: the same."""
        return height, width

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that embeds a map, for a picture size in pixels."""
        if self.encodes:
            return self.checkpoint.architecture.autoencoder.encoder(height, width)
        shape = height, width, maps
        if shape not in self._networks:
            config, sides = self.config, {"map_height": height, "map_width": width}
            self._networks[shape] = Network(
                "control_embedding",
                lambda g: map_tokens(g, config),
                self._weights,
                {name: offered(MIN_SIDE, side, _MAX_SIDE) for name, side in sides.items()}
                | {"maps": offered(1, maps, 1)},
                self.network.name,
            )
        return self._networks[shape]

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`: the mean of a latent."""
        if not self.encodes:
            return dict(made)
        return {EMBEDDING: self.encoded(made).mean}

    def encoded(self, made: Mapping[str, Array]) -> EncodedImage:
        """Return the latent of a map from the output of the VAE's encoder."""
        (output,) = made.values()
        return self.checkpoint.architecture.autoencoder.encoded(output)

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = MOST_TOKENS,
        rows: int = 1,
    ) -> Network:
        """Return the network of a step for a picture size in pixels; see `flux_control`."""
        shape = height, width, contexts, tokens, rows
        if shape not in self._networks:
            config, cell = self.config, self.cell
            patches = (height // cell // PATCH) * (width // cell // PATCH)
            dimensions = picture_dimensions(self.checkpoint, height, width, cell, rows) | {
                "contexts": offered(1, contexts, MAX_CONTEXTS),
                "rows": offered(1, contexts, _MAX_ROWS),
                "tokens": offered(LEAST_TOKENS, tokens, MOST_TOKENS),
                "patches": offered(1, patches, MOST_PATCHES),
            }
            self._networks[shape] = Network(
                "control",
                lambda g: flux_control(g, config),
                self._weights,
                dimensions,
                self.network.name,
            )
        return self._networks[shape]

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return the turns of the tokens of what the denoiser sees, of a size in pixels."""
        return rotations(self.config, (height // self.cell, width // self.cell))

    def with_loras(self, loras: ComponentPatches | None) -> "FluxNetModel":
        """Return the model itself, which LoRAs do not change."""
        return self

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return nothing: maps are embedded alike, whatever their kind."""
        return {}

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the input that tells a union the kind of its map.

        Raises EngineError(REQUEST_INVALID) for a kind that the network was not trained on.
        """
        modes = self.config.modes
        if not modes or not kinds:
            return {}
        number = self.network.number_of(kinds[0], FLUX_UNION_KINDS)
        return {"kind": np.eye(modes, dtype=np.float32)[number : number + 1]}


def _sizes(config: FluxConfig) -> tuple[object, ...]:
    """Return what a ControlNet and its transformer have in common."""
    inner = config.width, config.heads, config.context_width, config.pooled_width, config.axes
    return *inner, config.out_channels
