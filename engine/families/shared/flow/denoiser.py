"""A transformer of tokens of a picture and of a text as a denoiser."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import msgspec

from engine.compile.network import Network
from engine.compile.shapes import offered, present_sizes
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    Dimensions,
    component_network,
    picture_dimensions,
)
from engine.graphs.image_prompts import ImagePromptShape
from engine.graphs.operators import GraphBuilder
from engine.sampling.types import Latent

MAX_CONTEXTS = 16
# The usual numbers of tokens of a text.
LEAST_TOKENS, MOST_TOKENS = 256, 512
# The most tokens of a picture, of 16 pixels a side: it has at most 2048.
MOST_PATCHES = 128 * 128
# The cells along a side of the smallest latent: a token has one or two along its side.
_LEAST_CELLS = 2

# The heights and widths of the latents of reference pictures, in cells.
ReferenceSizes = tuple[tuple[int, int], ...]


class _Shape(msgspec.Struct, frozen=True):
    """The facts that a run's sizes follow from: picture in pixels, contexts, tokens, pictures."""

    height: int
    width: int
    contexts: int
    tokens: int
    rows: int
    references: ReferenceSizes


@dataclass(frozen=True, slots=True, eq=False)
class FlowDenoiser(ABC):
    """A `DenoiserModel` that takes no image prompts; by default nothing beside the latent."""

    checkpoint: IdentifiedCheckpoint
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[_Shape, Network] = field(default_factory=dict[_Shape, Network], init=False)

    @abstractmethod
    def emit(self, g: GraphBuilder) -> None:
        """Emit the network."""

    @abstractmethod
    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = MOST_TOKENS,
        rows: int = 1,
        image_prompts: tuple[ImagePromptShape, ...] = (),
        references: ReferenceSizes = (),
    ) -> Network:
        """Return the network for a picture size in pixels; see `DenoiserModel.network`."""
        assert not image_prompts, "the family takes none"
        shape = _Shape(height, width, contexts, tokens, rows, references)
        if shape not in self._networks:
            self._networks[shape] = self._network(shape)
        return self._networks[shape]

    def emit_with_references(self, g: GraphBuilder) -> None:
        """Emit the network that also sees reference pictures."""
        raise AssertionError("the family takes none")

    def reference_dimensions(self, patches: int, references: ReferenceSizes) -> Dimensions:
        """Return the dimensions of tokens with those of reference pictures; `patches`: without."""
        raise AssertionError("the family takes none")

    def _network(self, shape: _Shape) -> Network:
        least = _LEAST_CELLS * self.checkpoint.latent.downscale
        shown = ((_LEAST_CELLS, _LEAST_CELLS),) if shape.references else ()
        return component_network(
            self.checkpoint,
            Component.DENOISER,
            "denoiser",
            self.emit_with_references if shape.references else self.emit,
            self._dimensions(shape),
            least_sizes=present_sizes(self._dimensions(_Shape(least, least, 1, 1, 1, shown))),
        )

    def _dimensions(self, shape: _Shape) -> Dimensions:
        height, width, downscale = shape.height, shape.width, self.checkpoint.latent.downscale
        dimensions = self.token_dimensions((height // downscale, width // downscale), shape.tokens)
        if shape.references:
            patches = dimensions["patches"].optimum
            dimensions |= self.reference_dimensions(patches, shape.references)
        return {
            **picture_dimensions(self.checkpoint, height, width, downscale, shape.rows),
            "contexts": offered(1, shape.contexts, MAX_CONTEXTS),
            **dimensions,
        }

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """No layer's name: tokens of pictures and texts attend to one another in all layers."""
        return ()

    def reference_layers(self, weight: float) -> tuple[str, ...]:
        """Return nothing: no layer attends to a reference picture."""
        return ()

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return None: the variants that are run have no such channels."""
        return None
