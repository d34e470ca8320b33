"""The architecture of a checkpoint: its interface to the pipeline, the jobs and the memory plan.

A family makes an `Architecture` for each checkpoint. Each part is a protocol, so that the code
above the families depends on no particular type of text encoder, network or configuration.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from backends.base import Array
from engine.api.features import Features
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.compile.network import Network
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import Embeddings
from engine.families.latents import EncodedImage
from engine.families.running import EncoderRunner, NetworkRunner, Problem, Progress
from engine.graphs.image_prompts import AttendingLayer, ImagePromptShape
from engine.lora.layers import LayerTable
from engine.sampling.noise_model import NoiseModel
from engine.sampling.types import Latent
from engine.text.tags import NetworkTag

if TYPE_CHECKING:
    from engine.families.checkpoint import Component

# A prompt and its negative prompt.
Texts = tuple[str, str]


def texts_of(request: ResolvedRequest) -> Texts:
    """Return a request's prompt and negative prompt."""
    return request.prompt, request.negative_prompt


def distinct_texts(requests: Sequence[ResolvedRequest]) -> tuple[Texts, ...]:
    """Return the distinct pairs of prompts of some requests, in order."""
    return tuple(dict.fromkeys(map(texts_of, requests)))


class Conditioning(Protocol):
    """The encoded prompts of a picture: inputs of the denoiser at each of its evaluations."""

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        ...

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return the denoiser's inputs at an evaluation, from 0, by name: [contexts, ...] each.

        The positive prompts come first, in order, then, when guided, the negative prompt. While
        the inputs stay the same, the mapping is the same object, so that a session keeps its
        arrays. Only the request's sizes affect the inputs.
        """
        ...


class TextPlan(Protocol):
    """The parsed prompts of some pictures, not yet encoded. A plan needs no device."""

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The extra networks, such as LoRAs, that the prompts name, without duplicates."""
        ...

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """Warnings about embeddings that the prompts name, without duplicates."""
        ...

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """Return the embeddings that a pair of prompts uses, by the names they are called."""
        ...

    @property
    def networks(self) -> tuple[Network, ...]:
        """The text encoders that `encode` runs, in that order."""
        ...

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return how many contexts a pair of prompts gives the denoiser, and tokens per context."""
        ...

    def encode(self, runner: EncoderRunner) -> Mapping[Texts, Conditioning]:
        """Encode each pair of prompts. Raises EngineError as `EncoderRunner.encode` does."""
        ...


class TextEncoding(Protocol):
    """The part of an architecture that turns prompts into a conditioning."""

    @property
    def components(self) -> tuple["Component", ...]:
        """The text encoders in the checkpoint, in the order they run."""
        ...

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = ...,
        drawn: int | None = ...,
    ) -> TextPlan:
        """Parse the prompts of requests that differ only in prompts and seeds; run no network.

        Times in prompts count evaluations from `drawn` on, which in a second pass is the number
        that the first one takes; None: from the beginning of the pass. The files of `embeddings`
        that the prompts name are read. Raises EngineError(REQUEST_INVALID) for a prompt that the
        convention's tool refuses, and for one that is too long.
        """
        ...


class DenoiserModel(Protocol):
    """The denoiser: a network that predicts noise, v or the picture from noisy latents.

    The network's inputs are `sample` float32 [batch, channels, height, width] (the latents and any
    concatenated channels), the inputs from `timestep_inputs`, and the inputs from a `Conditioning`.
    The output `prediction` is float32 [contexts, latent channels, height, width]. The changes of a
    checkpoint may add inputs and outputs (`engine.families.network_changes`).
    """

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = ...,
        tokens: int = ...,
        rows: int = ...,
        image_prompts: tuple[ImagePromptShape, ...] = ...,
        references: tuple[tuple[int, int], ...] = ...,
    ) -> Network:
        """Return the network for a picture size in pixels; the same object for the same shape.

        `contexts` is the number of contexts and `tokens` the length of each; `rows` is the number
        of latents in the batch. With `image_prompts` the network is one that also attends to them,
        and with `references` to pictures whose latents are so high and wide, in cells.
        """
        ...

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """The names of the layers in which the cells of a latent attend to one another."""
        ...

    def reference_layers(self, weight: float) -> tuple[str, ...]:
        """Return the self-attention layers that attend to a reference of this weight, if any do."""
        ...

    def timestep_inputs(self, timestep: float, guidance: float = ...) -> dict[str, Array]:
        """Return the inputs that change with the step; some networks take `guidance` as one."""
        ...

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ...
    ) -> dict[str, Array]:
        """Return the inputs that depend on the picture's size in pixels and on `references` alone.

        These are the latents of reference pictures, [1, C, height, width] each.
        """
        ...

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return the channels to concatenate after the latent's, [1, D, H, W], or None.

        `mask` [1, 1, H, W] is 1 in the area to paint; `hidden` is the latent [1, C, H, W] of the
        picture with that area blanked out.
        """
        ...


class TiledAutoencoder(Protocol):
    """An autoencoder that processes a large picture tile by tile."""

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
        """Decode an unscaled latent [1, C, H, W] to float32 [1, 3, height, width] in [-1, 1]."""
        ...

    def encode(self, image: Array, runner: NetworkRunner, progress: Progress) -> Array:
        """Encode pixels; return the encoder's output."""
        ...


class AutoencoderModel(Protocol):
    """The autoencoder: networks that encode pictures to latents and decode latents to pictures.

    The encoder has the input `image` and one output; the decoder has the input `latent` and the
    output `image`.
    """

    def encoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the encoder for a picture size in pixels, by default the checkpoint's own size."""
        ...

    def decoder(self, height: int | None = None, width: int | None = None) -> Network:
        """Return the decoder for a picture size in pixels, by default the checkpoint's own size."""
        ...

    def tiled(self, cells: tuple[int, int], longest: int) -> TiledAutoencoder | None:
        """Return the autoencoder in tiles of at most `longest` cells a side; None if it has none.

        `cells` is the height and width of the whole latent. A tiny autoencoder needs no tiles.
        """
        ...

    def require_encoder(self) -> None:
        """Raise EngineError(CHECKPOINT_INCOMPLETE) where the autoencoder has only a decoder."""
        ...

    def encoded(self, output: Array) -> EncodedImage:
        """Return a picture's latent from the encoder's output."""
        ...


class TinyDecoder(msgspec.Struct, frozen=True):
    """A small decoder for previews; its input is a VAE's latent, less `shift`, times `scale`.

    Of packed latents it takes the cells: `patch` a side are the channels of one.
    """

    network: Network
    scale: float
    shift: float = 0.0
    patch: int = 1


class PreviewModel(Protocol):
    """Cheap previews by a tiny autoencoder; `LatentFormat.preview` is the linear alternative."""

    def tiny_decoder(
        self, files: Iterable[Path], read: ReadIndex, most_cells: int
    ) -> TinyDecoder | None:
        """Return the tiny decoder of the checkpoint, or a fitting one among `files`; or None.

        `files` are named as tiny autoencoders, and asked for only if they are needed. The network
        takes latents of at most `most_cells` cells along a side. `read` reads the header of a file.
        """
        ...


class TextAttention(msgspec.Struct, frozen=True):
    """The layers of a denoiser that attend to the text, and the width of the text's tokens."""

    layers: tuple[AttendingLayer, ...]
    context_width: int


def _no_block(_component: str, _layer: str) -> None:
    """Return None: the family names no blocks."""


def _own_name(_component: str, layer: str) -> str:
    """Return a layer's canonical name: the family has no other."""
    return layer


class Architecture(msgspec.Struct, frozen=True):
    """The parts that run one checkpoint. Do not call a part whose component is missing.

    `lora_layers`: the layers that LoRA files may change, by the names in such files; None for a
    family that takes no LoRA. `lora_block`: the block of a component's layer by its canonical name,
    for LoRAs with a weight for each block; None for a layer in no block. `lora_element`: the name
    in A1111 of a component's layer, parts of which single out layers. `attention`: the layers at
    which image prompts act; None for a family that takes none. `reference_size`: from the width
    and height in pixels of a reference picture, those at which the denoiser sees it; None for a
    checkpoint that takes none. `reference_scale`: from the same, the size to which the picture is
    scaled before its middle is cut out; None where it is fitted as the request's tool does.
    """

    features: Features
    text: TextEncoding
    denoiser: DenoiserModel
    noise: NoiseModel
    autoencoder: AutoencoderModel
    previews: PreviewModel
    lora_layers: LayerTable | None = None
    lora_block: Callable[[str, str], str | None] = _no_block
    lora_element: Callable[[str, str], str] = _own_name
    attention: TextAttention | None = None
    reference_size: Callable[[tuple[int, int]], tuple[int, int]] | None = None
    reference_scale: Callable[[tuple[int, int]], tuple[int, int]] | None = None
