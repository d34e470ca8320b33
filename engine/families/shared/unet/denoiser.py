"""A UNet as a denoiser: its network, its inputs at each step, its concatenated channels."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array, DimensionRange
from engine.api.features import ConcatChannels
from engine.api.values import PredictionType
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.families.architecture import TextAttention
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.shared.component_network import (
    Dimensions,
    component_network,
    config_of,
    picture_dimensions,
)
from engine.families.shared.unet.sizes import UNetFacts
from engine.graphs.free_u import FreeU
from engine.graphs.image_prompts import ImagePromptShape, cells_name
from engine.graphs.reference_attention import reference_layers
from engine.graphs.unet import (
    UNetConfig,
    attending_layers,
    free_u_inputs,
    guidance_embedding,
    self_attention_layers,
    timestep_embedding,
    unet,
)
from engine.sampling.types import Latent
from engine.text.chunks import CHUNK_LENGTH

_MAX_CONTEXTS = 16
_MAX_CHUNKS = 4
# The usual longest side of a latent in cells.
_MAX_SIDE = 256
# The contexts of a prompt and its negative prompt.
_GUIDED = 2

# The most cells of a level: pictures have at most 2048 pixels a side.
_MAX_CELLS = 256 * 256


class _Shape(msgspec.Struct, frozen=True):
    """The facts that a network follows from: picture in pixels, contexts, tokens, image prompts."""

    height: int
    width: int
    contexts: int
    tokens: int
    rows: int
    image_prompts: tuple[ImagePromptShape, ...]


def concat_channels(checkpoint: IdentifiedCheckpoint) -> ConcatChannels:
    """Return the kind of concatenated channels, from the UNet's number of input channels.

    NONE for a checkpoint without a UNet.
    """
    if Component.DENOISER not in checkpoint.components:
        return ConcatChannels.NONE
    config, latent = config_of(checkpoint, Component.DENOISER, UNetConfig), checkpoint.latent
    known = {
        2 * latent.channels: ConcatChannels.PICTURE,
        2 * latent.channels + 1: ConcatChannels.MASK,
    }
    return known.get(config.in_channels, ConcatChannels.NONE)


def embeds_guidance(checkpoint: IdentifiedCheckpoint) -> bool:
    """Tell whether the UNet was distilled to take guidance as an input (Luo et al. 2023)."""
    if Component.DENOISER not in checkpoint.components:
        return False
    return config_of(checkpoint, Component.DENOISER, UNetConfig).guidance_width > 0


def context_dimensions(contexts: int, tokens: int) -> Dimensions:
    """Return the dimensions of so many contexts, and of so many tokens in each."""
    return {
        "contexts": offered(1, contexts, _MAX_CONTEXTS),
        "tokens": offered(CHUNK_LENGTH, tokens, _MAX_CHUNKS * CHUNK_LENGTH),
    }


def row_dimensions(contexts: int) -> Dimensions:
    """Return the dimension of the rows that a denoiser evaluates, one or more for each context."""
    return {"rows": offered(1, contexts, _MAX_CONTEXTS)}


def text_attention(checkpoint: IdentifiedCheckpoint) -> TextAttention | None:
    """Return the UNet's layers that attend to the text; None for a checkpoint without a UNet."""
    if Component.DENOISER not in checkpoint.components:
        return None
    config = config_of(checkpoint, Component.DENOISER, UNetConfig)
    return TextAttention(attending_layers(config), config.context_width)


def takes_free_u(checkpoint: IdentifiedCheckpoint) -> bool:
    """Tell whether FreeU, in one of its forms, changes a layer of the UNet."""
    if Component.DENOISER not in checkpoint.components:
        return False
    config = config_of(checkpoint, Component.DENOISER, UNetConfig)
    forms = (FreeU(follows_mean=False, by_width=by_width) for by_width in (True, False))
    return all(free_u_inputs(config, form, (1, 1)) for form in forms)


def may_be_steered(checkpoint: IdentifiedCheckpoint) -> bool:
    """Tell whether published ControlNets and IP-Adapters may fit the UNet.

    They are trained on Stable Diffusion's own UNets, and fit what was made of these by further
    training, distilling or merging. Their files state no groups of norms and are read with the
    usual number, by which each width of such a UNet can be divided; the starter's, which was
    trained anew, cannot.
    """
    if Component.DENOISER not in checkpoint.components:
        return True
    config, groups = config_of(checkpoint, Component.DENOISER, UNetConfig), UNetFacts(None)
    return all(block.width % groups.norm_groups == 0 for block in config.down)


def attends_to_itself(checkpoint: IdentifiedCheckpoint, layer: str = "") -> bool:
    """Tell whether the UNet has self-attention at all, or this layer of it."""
    if Component.DENOISER not in checkpoint.components:
        return False
    layers = set(self_attention_layers(config_of(checkpoint, Component.DENOISER, UNetConfig)))
    return layer in layers if layer else bool(layers)


@dataclass(frozen=True, slots=True, eq=False)
class UNetDenoiser:
    """A `DenoiserModel` for a UNet whose context consists of CLIP's chunks of 77 tokens."""

    checkpoint: IdentifiedCheckpoint
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: dict[_Shape, Network] = field(default_factory=dict[_Shape, Network], init=False)

    def network(
        self,
        height: int,
        width: int,
        *,
        contexts: int = _GUIDED,
        tokens: int = CHUNK_LENGTH,
        rows: int = 1,
        image_prompts: tuple[ImagePromptShape, ...] = (),
        references: tuple[tuple[int, int], ...] = (),
    ) -> Network:
        """Return the network for a picture size in pixels; see `DenoiserModel.network`."""
        assert not references, "UNets take none"
        shape = _Shape(height, width, contexts, tokens, rows, image_prompts)
        if shape not in self._networks:
            self._networks[shape] = self._network(shape)
        return self._networks[shape]

    def _network(self, shape: _Shape) -> Network:
        config, downscale = self._config, self.checkpoint.latent.downscale
        height, width, image_prompts = shape.height, shape.width, shape.image_prompts
        changes = self.checkpoint.changes
        coarsest = downscale << (len(config.down) - 1)
        halves_evenly = height % coarsest == 0 and width % coarsest == 0
        return component_network(
            self.checkpoint,
            Component.DENOISER,
            "denoiser",
            lambda g: unet(
                g,
                config,
                halves_evenly=halves_evenly,
                changes=changes,
                image_prompts=image_prompts,
            ),
            picture_dimensions(self.checkpoint, height, width, downscale, shape.rows)
            | {
                f"{name}_side": offered(1, array.shape[1], _MAX_SIDE)
                for name, array in self.size_inputs(height, width).items()
            }
            | context_dimensions(shape.contexts, shape.tokens)
            | _masked(image_prompts, (height // downscale, width // downscale), config),
        )

    @property
    def self_attention_layers(self) -> tuple[str, ...]:
        """The names of the self-attention layers, in the order they run."""
        return tuple(self_attention_layers(self._config))

    def reference_layers(self, weight: float) -> tuple[str, ...]:
        """Return those of them that attend to a reference picture of this weight."""
        layers = self.self_attention_layers
        return reference_layers(layers, attending_layers(self._config), weight)

    def timestep_inputs(self, timestep: float, guidance: float = 1.0) -> dict[str, Array]:
        """Return the sinusoids of a timestep, and of guidance if the UNet has it as an input."""
        config = self._config
        inputs = {"timestep_embedding": timestep_embedding(config, timestep)}
        if config.guidance_width:
            inputs["guidance_embedding"] = guidance_embedding(config, guidance)
        return inputs

    def size_inputs(
        self, height: int, width: int, references: Sequence[Latent] = ()
    ) -> dict[str, Array]:
        """Return the inputs that depend on the picture's size in pixels alone: those of FreeU."""
        assert not references, "UNets take none"
        free_u, downscale = self.checkpoint.changes.free_u, self.checkpoint.latent.downscale
        if free_u is None:
            return {}
        return free_u_inputs(self._config, free_u, (height // downscale, width // downscale))

    def concatenated(
        self, picture: EncodedImage | None, hidden: Latent | None, mask: Latent | None
    ) -> Latent | None:
        """Return the channels to concatenate after the latent's, [1, D, H, W], or None.

        Without a mask the whole picture is to be painted: the mask is all ones, and `hidden` is the
        latent of a grey picture (A1111 `txt2img_image_conditioning`).
        """
        kind = concat_channels(self.checkpoint)
        if kind is ConcatChannels.PICTURE and picture is not None:
            # CosXL takes the picture scaled like its latents (diffusers' `is_cosxl_edit`, ComfyUI).
            is_cosxls = self.checkpoint.prediction is PredictionType.EDM_V
            return picture.mean if is_cosxls else picture.unscaled
        if kind is not ConcatChannels.MASK or hidden is None:
            return None
        shown = np.ones_like(hidden[:, :1]) if mask is None else mask
        return np.concatenate([shown, hidden], axis=1)

    @property
    def _config(self) -> UNetConfig:
        return config_of(self.checkpoint, Component.DENOISER, UNetConfig)


def _masked(
    image_prompts: tuple[ImagePromptShape, ...], cells: tuple[int, int], config: UNetConfig
) -> dict[str, DimensionRange]:
    """Return the dimensions of the masks of image prompts, which have the cells of each level."""
    if not any(shape.masked for shape in image_prompts):
        return {}
    levels = {layer.level for layer in attending_layers(config)}
    found: dict[str, DimensionRange] = {}
    for level in sorted(levels):
        rows, columns = (-(-side // 2**level) for side in cells)
        found[cells_name(level)] = offered(1, rows * columns, _MAX_CELLS >> (2 * level))
    return found
