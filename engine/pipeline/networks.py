"""The networks of an SD-class checkpoint, ready to compile.

Each knows the sizes it is wanted for now and those that the app offers, for devices that compile
for a range: pictures of 64 to 2048 pixels, up to 8 at once, up to 16 prompts.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from backends.base import Array, DimensionRange
from engine.api.limits import MIN_SIDE
from engine.api.values import Beside
from engine.compile.compiler import Network
from engine.compile.shapes import offered
from engine.families.base import Component, IdentifiedCheckpoint
from engine.graphs.clip_text import ClipTextConfig, clip_text
from engine.graphs.operators import GraphBuilder
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from engine.graphs.unet import UNetConfig, guidance_embedding, timestep_embedding, unet
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder
from engine.text.chunks import CHUNK_LENGTH
from engine.weights.weight_set import WeightSet

_MAX_SIDE = 2048
_MAX_PICTURES = 8
_MAX_CONTEXTS = 16
_MAX_CHUNKS = 4
# Of prompts: as many are encoded at once as `engine.families.shared.clip.conditioning` asks for.
_MAX_ROWS = 64

# A prompt and its negative.
_GUIDED = 2

Dimensions = dict[str, DimensionRange]


TEXT_ENCODERS = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)


def text_encoders(checkpoint: IdentifiedCheckpoint) -> tuple[Component, ...]:
    """Those the checkpoint has, in the order their outputs stand side by side."""
    return tuple(one for one in TEXT_ENCODERS if one in checkpoint.components)


def text_layers(checkpoint: IdentifiedCheckpoint) -> int:
    """How many layers the shallowest text encoder has; 1 where there is none."""
    configs = (checkpoint.components[one].config for one in text_encoders(checkpoint))
    return min((one.layers for one in configs if isinstance(one, ClipTextConfig)), default=1)


def denoiser_config(checkpoint: IdentifiedCheckpoint) -> UNetConfig:
    """The sizes of the denoiser."""
    return cast("UNetConfig", checkpoint.components[Component.DENOISER].config)


def text_encoder(
    checkpoint: IdentifiedCheckpoint,
    clip_skip: int = 1,
    component: Component = Component.TEXT_ENCODER,
    *,
    final_norm: bool = True,
    masked: bool = False,
) -> Network:
    """Tokens to embeddings, stopping `clip_skip` - 1 layers early; see `clip_text`.

    Whether the final norm follows is the family's to say, and `final_norm`'s where it does not.
    """
    config = cast("ClipTextConfig", checkpoint.components[component].config)
    families = checkpoint.text.final_norm
    final_norm = final_norm if families is None else families
    return _network(
        checkpoint,
        component,
        component.value,
        lambda g: clip_text(g, config, clip_skip, final_norm=final_norm, attention_mask=masked),
        {"batch": offered(1, _GUIDED, _MAX_ROWS)},
    )


def denoiser(
    checkpoint: IdentifiedCheckpoint,
    height: int,
    width: int,
    *,
    contexts: int = _GUIDED,
    tokens: int = CHUNK_LENGTH,
    rows: int = 1,
) -> Network:
    """One step's prediction for pictures of this size in pixels, under so many prompts at once.

    `rows`: how many latents it is given, which go into the contexts.
    """
    config = denoiser_config(checkpoint)
    downscale = checkpoint.latent.downscale
    coarsest = downscale << (len(config.down) - 1)
    halves_evenly = height % coarsest == 0 and width % coarsest == 0
    return _network(
        checkpoint,
        Component.DENOISER,
        "denoiser",
        lambda g: unet(g, config, halves_evenly=halves_evenly),
        _pictures(checkpoint, height, width, downscale, rows)
        | {
            "contexts": offered(1, contexts, _MAX_CONTEXTS),
            "tokens": offered(CHUNK_LENGTH, tokens, _MAX_CHUNKS * CHUNK_LENGTH),
        },
    )


def told(
    checkpoint: IdentifiedCheckpoint, timestep: float, guidance: float = 1.0
) -> dict[str, Array]:
    """A timestep, and guidance where it takes that in, as inputs of the denoiser."""
    config = denoiser_config(checkpoint)
    inputs = {"timestep_embedding": timestep_embedding(config, timestep)}
    if config.guidance_width:
        inputs["guidance_embedding"] = guidance_embedding(config, guidance)
    return inputs


def is_told_guidance(checkpoint: IdentifiedCheckpoint) -> bool:
    """Whether the denoiser was distilled to be guided by a number it is told (Luo et al. 2023)."""
    config = denoiser_config(checkpoint)
    return config.guidance_width > 0


def seen_beside(checkpoint: IdentifiedCheckpoint) -> Beside:
    """Known by the number of the denoiser's channels."""
    config = denoiser_config(checkpoint)
    latent = checkpoint.latent.channels
    known = {2 * latent: Beside.PICTURE, 2 * latent + 1: Beside.MASK}
    return known.get(config.in_channels, Beside.NOTHING)


def decoder(
    checkpoint: IdentifiedCheckpoint, height: int | None = None, width: int | None = None
) -> Network:
    """Latents to pixels, for pictures of this size in pixels, or the checkpoint's usual one."""
    config = checkpoint.components[Component.VAE].config
    size = _pictures(checkpoint, height, width, checkpoint.latent.downscale)
    if isinstance(config, TinyVaeConfig):
        return _vae(checkpoint, "vae_decoder", partial(tiny_decoder, config=config), size)
    emit = partial(vae_decoder, config=cast("VaeConfig", config))
    return _vae(checkpoint, "vae_decoder", emit, size)


def encoder(
    checkpoint: IdentifiedCheckpoint, height: int | None = None, width: int | None = None
) -> Network:
    """Pixels to latents, for pictures of this size in pixels, or the checkpoint's usual one."""
    config = checkpoint.components[Component.VAE].config
    size = _pictures(checkpoint, height, width, 1)
    if isinstance(config, TinyVaeConfig):
        return _vae(checkpoint, "vae_encoder", partial(tiny_encoder, config=config), size)
    emit = partial(vae_encoder, config=cast("VaeConfig", config))
    return _vae(checkpoint, "vae_encoder", emit, size)


def vae_part(
    checkpoint: IdentifiedCheckpoint,
    name: str,
    emit: Callable[[GraphBuilder, VaeConfig], None],
    size: tuple[int, int],
    pixels: int,
) -> Network:
    """A part of the VAE (`engine.graphs.vae_tiles`) for this height and width in cells.

    Its input has `pixels` along each axis of a cell.
    """
    config = cast("VaeConfig", checkpoint.components[Component.VAE].config)
    height, width = (side * pixels for side in size)
    dimensions = {
        "batch": offered(1, 1, 1),
        "height": offered(1, height, height),
        "width": offered(1, width, width),
    }
    return _vae(checkpoint, name, lambda g: emit(g, config), dimensions)


def _vae(
    checkpoint: IdentifiedCheckpoint,
    name: str,
    emit: Callable[[GraphBuilder], None],
    dimensions: Dimensions,
) -> Network:
    return _network(checkpoint, Component.VAE, name, emit, dimensions)


def _pictures(
    checkpoint: IdentifiedCheckpoint,
    height: int | None,
    width: int | None,
    downscale: int,
    rows: int = 1,
) -> Dimensions:
    """A batch of pictures of so many pixels, `downscale` to a cell."""
    least, most = MIN_SIDE // downscale, _MAX_SIDE // downscale
    usual = checkpoint.default_size
    return {
        "batch": offered(1, rows, _MAX_PICTURES),
        "height": offered(least, (height or usual) // downscale, most),
        "width": offered(least, (width or usual) // downscale, most),
    }


def _network(
    checkpoint: IdentifiedCheckpoint,
    component: Component,
    name: str,
    emit: Callable[[GraphBuilder], None],
    dimensions: Dimensions,
) -> Network:
    weights = WeightSet(checkpoint.digest, checkpoint.components[component].weights)
    # So that a refiner's is not taken for that of the checkpoint before it.
    name = f"refiner_{name}" if checkpoint.refines else name
    title = checkpoint.path.stem if checkpoint.path.is_file() else checkpoint.path.name
    overflows = component is Component.VAE and checkpoint.vae_overflows_f16
    return Network(name, emit, weights, dimensions, title, overflows)
