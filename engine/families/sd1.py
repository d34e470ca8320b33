"""Stable Diffusion 1.x: CLIP ViT-L/14 text encoder, convolutional UNet, 4-channel KL autoencoder.

Everything but the constants below is read off the file, so pruned, distilled, inpainting and small
variants need no case of their own.
"""

import re
from pathlib import Path

from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.errors import EngineError
from engine.families.base import (
    Component,
    ComponentConfig,
    ComponentSource,
    Family,
    IdentifiedCheckpoint,
    LatentFormat,
    Parts,
)
from engine.families.folder_parts import FolderSource, clip_text_source, unet_source, vae_source
from engine.families.hints import PreviewFactors
from engine.families.naming import CanonicalWeights, canonical_weights, sort_keys
from engine.families.sizes import (
    ClipTextFacts,
    UNetFacts,
    clip_text_config,
    unet_config,
    vae_config,
)
from engine.families.training import training_of_file, training_of_folder
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.vae import VaeConfig

CONTEXT_WIDTH = 768
UNET_HEADS = 8
NORM_GROUPS = 32
LATENT_CHANNELS = 4
LATENT_SCALE = 0.18215
DOWNSCALE = 8
DEFAULT_SIZE = 512
# Published with ComfyUI (latent_formats.py, SD15).
PREVIEW = PreviewFactors(
    (
        (0.3512, 0.2297, 0.3227),
        (0.3250, 0.4974, 0.2350),
        (-0.2829, 0.1762, 0.2721),
        (-0.2120, -0.2616, -0.7177),
    )
)

_WAY_UP = ("output_blocks.", "up_blocks.")
_CONVOLUTIONAL = re.compile(r"proj_in\.weight \[\d+,\d+,1,1\]")
_CONTEXT = re.compile(r"attn2\.to_k\.weight \[\d+,(\d+)\]")
_TEXT_WIDTH = re.compile(r"embeddings\.token_embedding\.weight \[\d+,(\d+)\]")


def recognises(text: str) -> bool:
    """Whether a UNet projects by convolution, as no later family does, and attends to its text.

    With a text encoder of another width it is still SD 1.x if made for CLIP ViT-L: then the error
    is about the encoder.
    """
    context = _CONTEXT.search(text)
    has_way_up = any(sign in text for sign in _WAY_UP)  # a ControlNet is half a UNet
    if not context or not has_way_up or not _CONVOLUTIONAL.search(text):
        return False
    text_width = _TEXT_WIDTH.search(text)
    fits_text = text_width is None or text_width[1] == context[1]
    return fits_text or int(context[1]) == CONTEXT_WIDTH


def read_file(index: TensorIndex, wanted: frozenset[Component]) -> Parts:
    """The wanted components of a single file, in the original layout or under diffusers' names."""
    keys = sort_keys(index.tensors, index.path)
    sources: dict[Component, ComponentSource] = {}
    ignored = keys.ignored
    for component in Component:
        if component in wanted and component in keys.components:
            named = canonical_weights(component, keys.components[component], index.path)
            config = _config_from_shapes(component, named, index.path)
            sources[component] = ComponentSource(component, config, named.weights)
            ignored += named.ignored
    training = training_of_file(index)
    evidence = _evidence(sources, training.evidence)
    return Parts(
        sources,
        index.digest,
        evidence,
        ignored,
        training.prediction,
        training.zero_terminal_snr,
    )


def read_folder(folder: DiffusersFolder) -> Parts:
    """Every component of a diffusers folder."""
    found: list[FolderSource] = []
    digests: list[str] = []
    if folder.text_encoder:
        found.append(clip_text_source(folder.text_encoder))
        digests.append(folder.text_encoder.index.digest)
    if folder.unet:
        found.append(unet_source(folder.unet))
        digests.append(folder.unet.index.digest)
    if folder.vae:
        found.append(vae_source(folder.vae))
        digests.append(folder.vae.index.digest)
    sources = {part.source.component: part.source for part in found}
    training = training_of_folder(folder.scheduler, folder.path)
    return Parts(
        sources,
        combined_digest(*digests),
        _evidence(sources, training.evidence),
        ignored_keys=sum(part.ignored for part in found),
        prediction=training.prediction,
        zero_terminal_snr=training.zero_terminal_snr,
        sample_size=_sample_size(folder),
        latent_scale=folder.vae.config.scaling_factor if folder.vae else None,
        latent_shift=folder.vae.config.shift_factor if folder.vae else None,
        tokenizer=folder.tokenizer,
    )


def assemble(path: Path, parts: Parts) -> IdentifiedCheckpoint:
    """A checkpoint of these parts. Raises EngineError where they do not fit together."""
    unet, vae, text = _configs(parts)
    latent_channels = unet.out_channels if unet else vae.latent_channels if vae else LATENT_CHANNELS
    if unet and text and unet.context_width != text.width:
        raise _misfit(
            Component.TEXT_ENCODER, f"{text.width} wide", f"one {unet.context_width} wide"
        )
    if vae and vae.latent_channels != latent_channels:
        raise _misfit(
            Component.VAE,
            f"for {vae.latent_channels} latent channels",
            f"one for {latent_channels}",
        )
    downscale = vae.downscale if vae else DOWNSCALE
    scale = LATENT_SCALE if parts.latent_scale is None else parts.latent_scale
    # A VAE of its own has a latent space of its own, and its scale shows it.
    is_usual = latent_channels == LATENT_CHANNELS and scale == LATENT_SCALE
    return IdentifiedCheckpoint(
        path=path,
        family=FAMILY.name,
        variant=_variant(unet, path),
        prediction=parts.prediction,
        zero_terminal_snr=parts.zero_terminal_snr,
        latent=LatentFormat(
            latent_channels,
            downscale,
            scale,
            parts.latent_shift or 0.0,
            PREVIEW if is_usual else None,
        ),
        default_size=parts.sample_size * downscale if parts.sample_size else DEFAULT_SIZE,
        components=parts.sources,
        missing=tuple(component for component in Component if component not in parts.sources),
        evidence=parts.evidence,
        ignored_keys=parts.ignored_keys,
        tokenizer=parts.tokenizer,
        digest=parts.digest,
    )


def _config_from_shapes(
    component: Component, named: CanonicalWeights, path: Path
) -> ComponentConfig:
    match component:
        case Component.DENOISER:
            return unet_config(named.weights, UNetFacts(UNET_HEADS, NORM_GROUPS), path)
        case Component.VAE:
            return vae_config(named.weights, NORM_GROUPS, path)
        case Component.TEXT_ENCODER:
            return clip_text_config(named.weights, ClipTextFacts(), path)


def _configs(parts: Parts) -> tuple[UNetConfig | None, VaeConfig | None, ClipTextConfig | None]:
    unet = vae = text = None
    for source in parts.sources.values():
        match source.config:
            case UNetConfig() as config:
                unet = config
            case VaeConfig() as config:
                vae = config
            case ClipTextConfig() as config:
                text = config
    return unet, vae, text


def _variant(unet: UNetConfig | None, path: Path) -> str:
    """What the UNet's input says it was trained for."""
    if unet is None:
        return "base"
    latent = unet.out_channels
    variants = {
        latent: "base",
        2 * latent: "instruct-pix2pix",  # beside the latent, that of the picture to change
        2 * latent + 1: "inpainting",  # beside the latent, that of the picture, and the mask
    }
    if unet.in_channels not in variants:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            f"The UNet of {path.name} takes {unet.in_channels} channels, as no SD 1.x UNet does.",
            "Choose a text-to-image or inpainting checkpoint.",
        )
    return variants[unet.in_channels]


def _sample_size(folder: DiffusersFolder) -> int | None:
    size = folder.unet.config.sample_size if folder.unet else None
    return next(iter(size), None) if isinstance(size, tuple) else size


def _evidence(sources: dict[Component, ComponentSource], training: str) -> tuple[str, ...]:
    lines = tuple(_describe(source.config) for source in sources.values())
    return (*lines, training) if Component.DENOISER in sources else lines


def _describe(config: ComponentConfig) -> str:
    match config:
        case UNetConfig():
            widths = "-".join(str(block.width) for block in config.down)
            return (
                f"UNet of widths {widths} with convolutional projections, "
                f"{config.in_channels} channels in, context {config.context_width} wide"
            )
        case VaeConfig():
            widths = "-".join(str(width) for width in config.widths)
            return f"VAE of widths {widths}, {config.latent_channels} latent channels"
        case ClipTextConfig():
            return f"CLIP text encoder, {config.layers} layers {config.width} wide"


def _misfit(component: Component, found: str, needed: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"The {component.label} does not fit: it is {found}, the UNet needs {needed}.",
        f"Give another with {component.option}, made for this checkpoint's family.",
    )


FAMILY = Family(
    name="sd1",
    title="SD 1.x",
    pipelines=(
        "StableDiffusionPipeline",
        "StableDiffusionImg2ImgPipeline",
        "StableDiffusionInpaintPipeline",
        "StableDiffusionInstructPix2PixPipeline",
    ),
    recognises=recognises,
    read_file=read_file,
    read_folder=read_folder,
    assemble=assemble,
)
