"""The architecture of a checkpoint: the parts that the pipeline, jobs and memory plan ask.

A family makes an `Architecture` of a checkpoint. Each part is a protocol, so that what stands
above families knows no text encoder, network or configuration by its type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from backends.base import Array
from engine.api.features import Features
from engine.api.record import ResolvedRequest
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.compile.network import Network
from engine.families.latents import EncodedImage
from engine.families.running import NetworkRunner, Problem, Progress
from engine.memory.plan import MemoryFacts
from engine.sampling.noise_model import NoiseModel
from engine.sampling.types import Latent
from engine.text.tags import NetworkTag

if TYPE_CHECKING:
    from engine.families.base import Component

# A prompt and its negative.
Texts = tuple[str, str]


def texts_of(request: ResolvedRequest) -> Texts:
    """The prompts of a picture."""
    return request.prompt, request.negative_prompt


class Conditioning(Protocol):
    """The encoded prompts of a picture: inputs of the denoiser at each of its evaluations."""

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        ...

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """The denoiser's inputs at an evaluation, counted from 0, by name: [contexts, ...] each.

        The positives come first, in order, then, when guided, the negative prompt. The mapping is
        the same object as before while nothing changes, so that a session keeps its arrays. Of the
        request it depends on sizes alone.
        """
        ...


class TextPlan(Protocol):
    """Prompts of some pictures, read and not yet encoded. It needs no device."""

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The networks, such as LoRAs, that the prompts ask for, each once."""
        ...

    @property
    def networks(self) -> tuple[Network, ...]:
        """The text encoders that `encode` runs, in order."""
        ...

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """The contexts of a pair of prompts, and the tokens of each, as the denoiser gets them."""
        ...

    def encode(self, runner: NetworkRunner) -> Mapping[Texts, Conditioning]:
        """Encode each pair of prompts. Raises EngineError as `NetworkRunner.run` does."""
        ...


class TextEncoding(Protocol):
    """Turns prompts into a conditioning."""

    @property
    def components(self) -> tuple["Component", ...]:
        """The text encoders that the checkpoint has, in the order they run."""
        ...

    def read(self, requests: Sequence[ResolvedRequest]) -> TextPlan:
        """Read the prompts of requests that differ in prompts and seeds alone.

        Runs nothing. Raises EngineError(REQUEST_INVALID) for what the convention's tool refuses,
        and for what is too long.
        """
        ...


class DenoiserModel(Protocol):
    """A network that predicts from noisy latents.

    Its inputs are `sample` float32 [batch, channels, height, width], latents and the channels that
    are concatenated; those of `timestep_inputs`; and those of a `Conditioning`. Its one output is
    `prediction` float32 [contexts, latent channels, height, width].
    """

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = ...,
        tokens: int = ...,
        rows: int = ...,
    ) -> Network:
        """The network for pictures of this size in pixels; the same object for the same shape.

        `contexts` of so many `tokens`; `rows`: how many latents go into the contexts.
        """
        ...

    def timestep_inputs(self, timestep: float, guidance: float = ...) -> dict[str, Array]:
        """The inputs that change with the step; guidance where the network takes it."""
        ...

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """The channels after those of the latent, [1, D, H, W]; None where there are none.

        `hidden` is the latent [1, C, H, W] of the picture without what is to be painted, `mask`
        [1, 1, H, W] is 1 there.
        """
        ...


class TiledAutoencoder(Protocol):
    """An autoencoder that takes a large picture tile by tile."""

    @property
    def decoding(self) -> tuple[Network, ...]:
        """The networks that decoding runs, in order."""
        ...

    @property
    def encoding(self) -> tuple[Network, ...]:
        """The networks that encoding runs, in order."""
        ...

    def decode(
        self, latent: Array, runner: NetworkRunner, progress: Progress, problem: Problem
    ) -> Array:
        """An unscaled latent [1, C, H, W] as pixels, float32 [1, 3, height, width] in [-1, 1]."""
        ...

    def encode(self, image: Array, runner: NetworkRunner, progress: Progress) -> Array:
        """Pixels as the output of the encoder."""
        ...


class AutoencoderModel(Protocol):
    """Pictures to latents and back.

    Its encoder has the input `image` and one output, its decoder the input `latent` and the output
    `image`.
    """

    def encoder(self, height: int | None = None, width: int | None = None) -> Network:
        """The encoder for pictures of this size in pixels, or the checkpoint's usual one."""
        ...

    def decoder(self, height: int | None = None, width: int | None = None) -> Network:
        """The decoder for pictures of this size in pixels, or the checkpoint's usual one."""
        ...

    def tiled(self, cells: tuple[int, int], longest: int) -> TiledAutoencoder | None:
        """In tiles of at most `longest` cells along a side; None where there is no such thing."""
        ...

    def require_encoder(self) -> None:
        """Raise EngineError(CHECKPOINT_INCOMPLETE) where it can only decode."""
        ...

    def encoded(self, output: Array) -> EncodedImage:
        """A picture's latent, of the output of the encoder."""
        ...


@dataclass(frozen=True, slots=True)
class TinyDecoder:
    """A small network with the input `latent`, which is an unscaled latent times `scale`."""

    network: Network
    scale: float


class PreviewModel(Protocol):
    """Pictures of latents for next to nothing; `LatentFormat.preview` is its linear map."""

    def tiny_decoder(
        self, models: Path | None, read: ReadIndex, most_cells: int
    ) -> TinyDecoder | None:
        """A tiny autoencoder of the latent space, of the checkpoint or below `models`; or None.

        Its network is for at most so many cells along a side.
        """
        ...


@dataclass(frozen=True, slots=True)
class Architecture:
    """The parts that run one checkpoint. Those whose component is missing must not be asked."""

    features: Features
    text: TextEncoding
    denoiser: DenoiserModel
    noise: NoiseModel
    autoencoder: AutoencoderModel
    previews: PreviewModel
    memory: MemoryFacts
