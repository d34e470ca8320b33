"""Checks that a control network fits the checkpoint that it is to lead, and the sizes it gets."""

from collections.abc import Collection

import msgspec

from engine.api.features import OptionalSetting
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.control.control_net_files import require_weights
from engine.control.network import BorrowedSizes, ControlNetSizes, ControlNetwork
from engine.control.sizes import control_net_config
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.registry import FAMILIES
from engine.families.shared.component_network import config_of
from engine.families.shared.unet.sizes import UNetFacts
from engine.graphs.control_net import ControlNetConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.unet_encoder import EncoderConfig, UNetBlock
from engine.weights.patched import Patch, PatchedWeight, fits
from engine.weights.side_branches import SideBranches
from engine.weights.sources import Weight, as_source

# The way up of a UNet, and what a distilled one has for guidance.
_NOT_COPIED = ("up_blocks.", "conv_out.", "conv_norm_out.", "time_embedding.cond_proj.")


def whole_weights(network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> dict[str, Weight]:
    """Return a network's weights with those that it borrows from the checkpoint's denoiser.

    These are changed by the LoRAs that are merged with the denoiser, as in ComfyUI, which copies
    the weights in use (`ControlLora.pre_run` of `comfy/controlnet.py`). Raises
    EngineError(CHECKPOINT_MISMATCH) where a change does not fit the weight.
    """
    if not isinstance(network.sizes, BorrowedSizes):
        return dict(network.weights)
    own = checkpoint.components[Component.DENOISER].weights
    loras = checkpoint.patches.get(Component.DENOISER)
    changes: dict[str, tuple[Patch, ...]] = dict(loras.merged) if loras else {}
    for name, change in network.changes.items():
        if name not in own or not fits(change, own[name].shape):
            raise other_sizes(network, checkpoint)
        changes[name] = (*changes.get(name, ()), change)
    whole: dict[str, Weight] = {
        name: PatchedWeight(as_source(weight), changes[name]) if changes.get(name) else weight
        for name, weight in own.items()
        if not name.startswith(_NOT_COPIED)
    }
    return whole | dict(network.weights)


def borrowed_branches(
    weights: Collection[str], checkpoint: IdentifiedCheckpoint
) -> SideBranches | None:
    """Return the side branches of the denoiser's LoRAs at the layers that a network borrows.

    `weights` are the names of the borrowed weights.
    """
    loras = checkpoint.patches.get(Component.DENOISER)
    branches = loras.branches if loras else None
    if branches is None:
        return None
    borrowed = {name.removesuffix(".weight") for name in weights}
    layers = {layer: parts for layer, parts in branches.layers.items() if layer in borrowed}
    return SideBranches(layers, branches.ranks) if layers else None


def fitted_config(
    network: ControlNetwork, weights: dict[str, Weight], checkpoint: IdentifiedCheckpoint
) -> ControlNetConfig:
    """Return a network's sizes with what only the checkpoint knows.

    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of other sizes.
    """
    unet, sizes = config_of(checkpoint, Component.DENOISER, UNetConfig), network.sizes
    if isinstance(sizes, ControlNetSizes):
        config, states_heads = sizes.config, sizes.states_heads
        pools = config.pools
    else:
        config, states_heads = control_net_config(weights, UNetFacts(None), network.path), False
        pools = isinstance(sizes, BorrowedSizes) and sizes.pools
    encoder = config.encoder
    same_cells = config.downscale == checkpoint.latent.downscale
    if _skips(encoder) != _skips(unet) or not same_cells or not _takes_as(encoder, unet):
        raise other_sizes(network, checkpoint)
    encoder = msgspec.structs.replace(encoder, context_width=unet.context_width)
    if not states_heads:
        encoder = _with_heads_of(encoder, unet)
    config = msgspec.structs.replace(config, encoder=encoder, pools=pools)
    if isinstance(sizes, BorrowedSizes):
        require_weights(config, weights)
    return config


def require_family(network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family."""
    if network.family == checkpoint.family:
        return
    family = FAMILIES.named(checkpoint.family).title
    raise EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} is {title}, but {checkpoint} is of {family}.",
            path=network.path.name,
            title=network.title,
            checkpoint=checkpoint.path.name,
            family=family,
        ),
        sentence("Choose a control network for {family}.", family=family),
    )


def other_sizes(network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> EngineError:
    """Return the error for a checkpoint whose denoiser has other sizes."""
    if OptionalSetting.CONTROLS not in checkpoint.architecture.features.options:
        return EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            sentence(
                "No control network fits {checkpoint}, whose layers have widths of their own.",
                checkpoint=checkpoint.path.name,
            ),
            sentence("Choose another model, or leave out the control layers."),
        )
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} is for a UNet of other sizes than that of {checkpoint}.",
            path=network.path.name,
            checkpoint=checkpoint.path.name,
        ),
        sentence("Choose a control network that was made for this model."),
    )


def _skips(config: EncoderConfig) -> tuple[tuple[int, int, bool], ...]:
    """Return the width of each level, the number of its images, and if it is halved after it."""
    levels = tuple((level.width, len(level.depths), level.resample) for level in config.down)
    return (*levels, (config.mid.width if config.mid else 0, 0, False))


def _takes_as(encoder: EncoderConfig, unet: UNetConfig) -> bool:
    """Tell whether a network takes the inputs of the denoiser."""
    return (
        encoder.in_channels == unet.out_channels
        and encoder.context_width in (0, unet.context_width)
        and encoder.added_width == unet.added_width
    )


def _with_heads_of(encoder: EncoderConfig, unet: UNetConfig) -> EncoderConfig:
    """Return a copy's sizes with the heads and norms of what it is a copy of."""

    def headed(block: UNetBlock, of: UNetBlock) -> UNetBlock:
        return msgspec.structs.replace(block, heads=of.heads)

    return msgspec.structs.replace(
        encoder,
        down=tuple(headed(*pair) for pair in zip(encoder.down, unet.down, strict=True)),
        mid=encoder.mid and headed(encoder.mid, unet.down[-1]),
        norm_groups=unet.norm_groups,
        norm_epsilon=unet.norm_epsilon,
    )
