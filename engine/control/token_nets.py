"""The common part of ControlNets of transformers, whose residuals are tokens of the picture."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from backends.base import Array
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.control_model import ControlModel
from engine.control.network import ControlNetwork
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.shared.component_network import Dimensions, picture_dimensions
from engine.families.shared.flow.denoiser import MAX_CONTEXTS, MOST_TOKENS
from engine.graphs.operators import GraphBuilder

_MAX_ROWS = 16
EMBEDDING = "map_embedding"


@dataclass(frozen=True, slots=True, eq=False)
class TokenNet(ControlModel):
    """The networks of a ControlNet of a transformer for one checkpoint.

    The VAE encodes its maps, and the denoiser has inputs for the residuals.
    """

    @abstractmethod
    def emit(self, g: GraphBuilder) -> None:
        """Emit the network of a step."""

    @abstractmethod
    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps in [0, 1] as the VAE takes pictures."""
        return {"image": 2 * maps - 1}

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network | None:
        """Return None: the VAE encodes the map."""

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
        cell = self.cell
        dimensions = picture_dimensions(self.checkpoint, height, width, cell, rows) | {
            "contexts": offered(1, contexts, MAX_CONTEXTS),
            "rows": offered(1, contexts, _MAX_ROWS),
        }
        dimensions |= self.token_dimensions((height // cell, width // cell), tokens)
        made = self.network_of("control", self.emit, dimensions)
        return self.kept((height, width, contexts, tokens, rows), made)


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
