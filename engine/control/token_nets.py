"""The common part of ControlNets of transformers, whose residuals are tokens of the picture."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from backends.base import Array
from engine.api.control_rules import ControlRules
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.network import ControlNetwork
from engine.errors import EngineError
from engine.families.base import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.patches import ComponentPatches
from engine.families.shared.component_network import Dimensions, picture_dimensions
from engine.families.shared.flow.denoiser import MAX_CONTEXTS, MOST_TOKENS
from engine.graphs.control_residuals import ResidualForm
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet

_MAX_ROWS = 16
EMBEDDING = "map_embedding"


@dataclass(frozen=True, slots=True, eq=False)
class TokenNet(ABC):
    """The networks of a ControlNet of a transformer for one checkpoint.

    `embedding` runs once per map: the VAE's encoder. Networks are kept, so that a loaded network is
    recognised by identity.
    """

    network: ControlNetwork
    checkpoint: IdentifiedCheckpoint
    _weights: WeightSet
    _networks: dict[tuple[int, ...], Network] = field(
        default_factory=dict[tuple[int, ...], Network], init=False
    )

    @property
    @abstractmethod
    def residuals(self) -> ResidualForm:
        """The form of the residuals, for which the denoiser has inputs."""

    @abstractmethod
    def emit(self, g: GraphBuilder) -> None:
        """Emit the network of a step."""

    @abstractmethod
    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""

    @abstractmethod
    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return inputs of `denoising` by the size in pixels of what the denoiser sees."""

    @property
    def cell(self) -> int:
        """The side in pixels of a cell of the latent, by which `denoising` counts sizes."""
        return self.checkpoint.latent.downscale

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's: the same."""
        return height, width

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps in [0, 1] as the encoder takes pictures."""
        return {"image": 2 * maps - 1}

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that embeds a map, for a picture size in pixels."""
        return self.checkpoint.architecture.autoencoder.encoder(height, width)

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`: the mean of a latent."""
        return {EMBEDDING: self.encoded(made).mean}

    def encoded(self, made: Mapping[str, Array]) -> EncodedImage:
        """Return the latent of a map from the output of the VAE's encoder."""
        (output,) = made.values()
        return self.checkpoint.architecture.autoencoder.encoded(output)

    def drawn(self, made: Mapping[str, Array]) -> EncodedImage | None:
        """Return None: no tool draws the latent of a map from a seed."""
        return None

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = MOST_TOKENS,
        rows: int = 1,
    ) -> Network:
        """Return the network of a step for a picture size in pixels; see `emit`."""
        shape = height, width, contexts, tokens, rows
        if shape not in self._networks:
            cell = self.cell
            dimensions = picture_dimensions(self.checkpoint, height, width, cell, rows) | {
                "contexts": offered(1, contexts, MAX_CONTEXTS),
                "rows": offered(1, contexts, _MAX_ROWS),
            }
            dimensions |= self.token_dimensions((height // cell, width // cell), tokens)
            name = self.network.name
            self._networks[shape] = Network("control", self.emit, self._weights, dimensions, name)
        return self._networks[shape]

    def with_loras(self, loras: ComponentPatches | None) -> Self:
        """Return the model itself, which LoRAs do not change."""
        return self

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return nothing: maps are embedded alike, whatever their kind."""
        return {}

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return nothing: the network is told no kind."""
        return {}

    def sees_prompt_alone(self, rules: ControlRules) -> bool:
        """Return False: the network sees the prompts that the denoiser sees."""
        return False


def other_transformer(network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> EngineError:
    """Return the error for a checkpoint whose transformer has other sizes."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} is for a transformer of other sizes than that of {checkpoint}.",
            path=network.path.name,
            checkpoint=checkpoint.path.name,
        ),
        sentence("Choose a control network that was made for this model."),
    )
