"""Sizes of a UNet, read off the shapes of its weights under canonical names.

Settings that shapes do not show (heads, groups, epsilon) are arguments: the family's constants for
a single file, the `config.json` for a folder. `folder_parts` checks the other claims of the
`config.json` against the shapes.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.shapes import Shapes, check_divides, mismatch
from engine.graphs.unet import UNetBlock, UNetConfig
from engine.graphs.unet_encoder import EncoderConfig
from engine.weights.sources import Weight

_ADDED = "add_embedding.linear_1.weight"
_GUIDANCE = "time_embedding.cond_proj.weight"
_CONTEXT = "transformer_blocks.0.attn2.to_k.weight"
_PROJECTION = "attentions.0.proj_in.weight"
_HEAD_WIDTH = 64


class UNetFacts(msgspec.Struct, frozen=True):
    """Settings of a UNet that its shapes do not show.

    `heads` is one number, or one per level; None: one head for each 64 of a level's width.
    """

    heads: int | tuple[int, ...] | None
    norm_groups: int = 32
    norm_epsilon: float = 1e-5


def unet_config(weights: Mapping[str, Weight], facts: UNetFacts, path: Path) -> UNetConfig:
    """Read the sizes of a UNet2DConditionModel. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    levels = _levels(shapes)
    heads = _heads(shapes, facts.heads, levels)
    if shapes.blocks("up_blocks", "resnets.0.conv1.weight") != levels:
        raise damaged(
            path,
            sentence("it lacks {value!r}", value=f"up_blocks.{levels - 1}.resnets.0.conv1.weight"),
        )
    shapes.first(_CONTEXT, 2)
    encoder = encoder_config(weights, facts, path)
    config = UNetConfig(
        **msgspec.structs.asdict(encoder),
        out_channels=shapes.of("conv_out.weight", 4)[0],
        up=tuple(
            _unet_block(shapes, f"up_blocks.{level}", heads[levels - 1 - level], "upsamplers")
            for level in range(levels)
        ),
    )
    _check_skips(config, path)
    _check_attention(config, weights, path)
    _check_parts(config.up, config, path)
    return config


def encoder_config(weights: Mapping[str, Weight], facts: UNetFacts, path: Path) -> EncoderConfig:
    """Read the sizes of a UNet's way down and middle; its context is 0 wide if nothing attends.

    Raises EngineError for inconsistent shapes.
    """
    shapes = Shapes(weights, path)
    levels = _levels(shapes)
    heads = _heads(shapes, facts.heads, levels)
    attends = any(name.endswith(_CONTEXT) for name in weights)
    config = EncoderConfig(
        in_channels=shapes.of("conv_in.weight", 4)[1],
        context_width=shapes.first(_CONTEXT, 2)[1] if attends else 0,
        down=tuple(
            _unet_block(shapes, f"down_blocks.{level}", heads[level], "downsamplers")
            for level in range(levels)
        ),
        mid=_unet_mid(shapes, heads[-1]),
        norm_groups=facts.norm_groups,
        norm_epsilon=facts.norm_epsilon,
        linear_projection=_projects_linearly(shapes, weights),
        added_width=shapes.of(_ADDED, 2)[1] if _ADDED in shapes else 0,
        guidance_width=shapes.of(_GUIDANCE, 2)[1] if _GUIDANCE in shapes else 0,
    )
    _check_parts((*config.down, *((config.mid,) if config.mid else ())), config, path)
    return config


def _levels(shapes: Shapes) -> int:
    return shapes.blocks("down_blocks", "resnets.0.conv1.weight")


def _projects_linearly(shapes: Shapes, weights: Mapping[str, Weight]) -> bool:
    """Tell whether transformers project by linear layers; True without transformers."""
    if not any(name.endswith(_PROJECTION) for name in weights):
        return True
    return len(shapes.first(_PROJECTION, None)) == 2


def _check_parts(blocks: Iterable[UNetBlock], config: EncoderConfig, path: Path) -> None:
    for block in blocks:
        check_divides(path, block.width, config.norm_groups, "normalisation groups")
        if any(block.depths):
            check_divides(path, block.width, block.heads, "heads")


def _heads(shapes: Shapes, stated: int | tuple[int, ...] | None, levels: int) -> tuple[int, ...]:
    if stated is None:
        widths = (
            shapes.of(f"down_blocks.{level}.resnets.0.conv1.weight", 4)[0]
            for level in range(levels)
        )
        return tuple(max(1, width // _HEAD_WIDTH) for width in widths)
    heads = stated if isinstance(stated, tuple) else (stated,) * levels
    if len(heads) != levels:
        raise mismatch(shapes.path, f"{len(heads)} numbers of heads", f"{levels} levels")
    return heads


def _unet_mid(shapes: Shapes, heads: int) -> UNetBlock | None:
    """Return the middle: a residual block, or two around a transformer; None if absent."""
    layers = shapes.count("mid_block.resnets")
    if not layers:
        return None
    width = shapes.of("mid_block.resnets.0.conv2.weight", 4)[0]
    depth = shapes.count("mid_block.attentions.0.transformer_blocks")
    depths = (depth,) if layers == 2 else ()
    if depth and not depths:
        raise damaged(shapes.path, sentence("it lacks 'mid_block.resnets.1.conv1.weight'"))
    if layers > 2:
        raise damaged(
            shapes.path, sentence("its middle has {layers} residual blocks", layers=layers)
        )
    projects = "mid_block.attentions.0.norm.weight" in shapes and not depth
    return UNetBlock(width, depths, heads, resample=False, projects=projects)


def _unet_block(shapes: Shapes, block: str, heads: int, resampler: str) -> UNetBlock:
    layers = shapes.blocks(f"{block}.resnets", "conv1.weight")
    depths = tuple(
        shapes.count(f"{block}.attentions.{layer}.transformer_blocks") for layer in range(layers)
    )
    return UNetBlock(
        width=shapes.of(f"{block}.resnets.0.conv1.weight", 4)[0],
        depths=depths,
        heads=heads,
        resample=f"{block}.{resampler}.0.conv.weight" in shapes,
        projects=f"{block}.attentions.0.norm.weight" in shapes and not any(depths),
    )


def _check_skips(config: UNetConfig, path: Path) -> None:
    """Require one skip connection from the down path for each residual block of the up path."""
    given = 1 + sum(len(block.depths) + block.resample for block in config.down)
    last = len(config.up) - 1
    taken = sum(len(block.depths) for block in config.up)
    if given > taken:
        name = f"up_blocks.{last}.resnets.{len(config.up[last].depths)}.conv1.weight"
        raise damaged(path, sentence("it lacks {name!r}", name=name))
    if given < taken:
        name = f"down_blocks.{last}.resnets.{len(config.down[last].depths)}.conv1.weight"
        raise damaged(path, sentence("it lacks {name!r}", name=name))


_ATTENTION = re.compile(
    r"(?:(down|up)_blocks\.(\d+)|mid_block)\.attentions\.\d+\.transformer_blocks\.\d+"
    r"\.attn([12])\.to_(?:([kv])|q|out\.0)\.weight"
)


def _check_attention(config: UNetConfig, weights: Mapping[str, Weight], path: Path) -> None:
    """Require attention layers as wide as their blocks; SDXS 0.9 and others have narrower ones."""
    for name, weight in weights.items():
        match = _ATTENTION.fullmatch(name)
        if match is None:
            continue
        side, level, which, keys = match.groups()
        block = config.mid if side is None else getattr(config, side)[int(level)]
        width = block.width if block else 0
        crosses = which == "2" and keys
        expected = (width, config.context_width if crosses else width)
        if weight.shape != expected:
            raise EngineError(
                ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
                sentence(
                    "The UNet of {path} attends in another way than is run: {name!r} has the "
                    "shape {list}, not {list_2}.",
                    path=path.name,
                    name=name,
                    list=list(weight.shape),
                    list_2=list(expected),
                ),
                sentence("Use another version of the model."),
            )
