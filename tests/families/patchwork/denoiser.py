"""The run of Patchwork's transformer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backends.base import Array
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    component_network,
    config_of,
    picture_dimensions,
)
from engine.graphs.image_prompts import ImagePromptShape
from engine.sampling.types import Latent
from tests.families.patchwork.networks import DenoiserConfig, denoiser, sinusoids

TOKENS = 40


@dataclass(frozen=True, slots=True, eq=False)
class PatchDenoiser:
    """A `DenoiserModel` that takes guidance as an input."""

    checkpoint: IdentifiedCheckpoint
    _networks: dict[tuple[int, int], Network] = field(
        default_factory=dict[tuple[int, int], Network], init=False
    )

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = TOKENS,
        rows: int = 1,
        image_prompts: tuple[ImagePromptShape, ...] = (),
        references: tuple[tuple[int, int], ...] = (),
    ) -> Network:
        """One evaluation for pictures of this size in pixels; it is shown no other pictures."""
        assert not image_prompts
        assert not references
        if (height, width) not in self._networks:
            config, form = self._config, self.checkpoint.latent
            sizes = picture_dimensions(self.checkpoint, height, width, form.downscale, rows)
            self._networks[height, width] = component_network(
                self.checkpoint,
                Component.DENOISER,
                "denoiser",
                lambda g: denoiser(g, config),
                sizes
                | {
                    "contexts": offered(1, contexts, 8),
                    "tokens": offered(tokens, tokens, tokens),
                },
            )
        return self._networks[height, width]

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Sinusoids of the timestep and of a thousand times the guidance."""
        width = self._config.width
        return {
            "timestep_embedding": sinusoids(timestep, width),
            "guidance_embedding": sinusoids(1000 * guidance, width),
        }

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """Tokens of pictures and texts attend to one another: no layer has the picture alone."""
        return ()

    def reference_layers(self, weight: float) -> tuple[str, ...]:
        """No layer attends to a reference picture."""
        return ()

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """No input depends on the size alone."""
        return {}

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> None:
        """Nothing is concatenated."""

    @property
    def _config(self) -> DenoiserConfig:
        return config_of(self.checkpoint, Component.DENOISER, DenoiserConfig)
