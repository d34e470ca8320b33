"""Networks' sizes, read off the shapes of their weights under canonical names.

What shapes cannot say (heads, groups, epsilons, the activation) is an argument: a family's constant
for a single file, the folder's `config.json` for a folder, whose other claims must then agree.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.keys.numbering import Numbering, damaged
from engine.graphs.clip_text import Activation, ClipTextConfig, Projection
from engine.graphs.unet import UNetBlock, UNetConfig
from engine.graphs.vae import VaeConfig
from engine.weights.sources import StoredWeight

HEAD_WIDTH = 64

_ADDED = "add_embedding.linear_1.weight"
_GUIDANCE = "time_embedding.cond_proj.weight"
_CONTEXT = "transformer_blocks.0.attn2.to_k.weight"


class Shapes:
    """A component's shapes; asking for one that is not there names the key."""

    def __init__(self, weights: Mapping[str, StoredWeight], path: Path) -> None:
        self.path = path
        self._weights = weights
        self._numbering = Numbering(weights, path)

    def __contains__(self, name: str) -> bool:
        return name in self._weights

    def of(self, name: str, rank: int | None = None) -> tuple[int, ...]:
        """The shape of a weight, which must exist and have `rank` dimensions, none of them zero."""
        weight = self._weights.get(name)
        if weight is None:
            raise damaged(self.path, f"it lacks {name!r}")
        if not all(weight.shape) or (rank is not None and len(weight.shape) != rank):
            raise damaged(self.path, f"{name!r} has the shape {list(weight.shape)}")
        return weight.shape

    def first(self, ending: str, rank: int | None) -> tuple[int, ...]:
        """The shape of the first weight whose name ends so."""
        name = next((name for name in self._weights if name.endswith(ending)), ending)
        return self.of(name, rank)

    def count(self, prefix: str) -> int:
        """Numbered children of `prefix`, which may be none."""
        return self._numbering.count(prefix)

    def blocks(self, prefix: str, first: str) -> int:
        """Numbered children of `prefix`, at least one; `first` is what child 0 must have."""
        count = self.count(prefix)
        if not count:
            raise damaged(self.path, f"it lacks {f'{prefix}.0.{first}'!r}")
        return count


@dataclass(frozen=True, slots=True)
class UNetFacts:
    """What a UNet's shapes do not say.

    `heads` is one number, or one for each level; None: one for each 64 of a level's width.
    """

    heads: int | tuple[int, ...] | None
    norm_groups: int = 32
    norm_epsilon: float = 1e-5


@dataclass(frozen=True, slots=True)
class ClipTextFacts:
    """What a text encoder's shapes do not say. `heads` None: one for each 64 of its width."""

    heads: int | None = None
    activation: Activation = Activation.QUICK_GELU
    epsilon: float = 1e-5


def unet_config(weights: Mapping[str, StoredWeight], facts: UNetFacts, path: Path) -> UNetConfig:
    """Sizes of a UNet2DConditionModel."""
    shapes = Shapes(weights, path)
    levels = shapes.blocks("down_blocks", "resnets.0.conv1.weight")
    heads = _heads(shapes, facts.heads, levels)
    if shapes.blocks("up_blocks", "resnets.0.conv1.weight") != levels:
        raise damaged(path, f"it lacks {f'up_blocks.{levels - 1}.resnets.0.conv1.weight'!r}")
    config = UNetConfig(
        in_channels=shapes.of("conv_in.weight", 4)[1],
        out_channels=shapes.of("conv_out.weight", 4)[0],
        context_width=shapes.first(_CONTEXT, 2)[1],
        down=tuple(
            _unet_block(shapes, f"down_blocks.{level}", heads[level], "downsamplers")
            for level in range(levels)
        ),
        mid=_unet_mid(shapes, heads[-1]),
        up=tuple(
            _unet_block(shapes, f"up_blocks.{level}", heads[levels - 1 - level], "upsamplers")
            for level in range(levels)
        ),
        norm_groups=facts.norm_groups,
        norm_epsilon=facts.norm_epsilon,
        linear_projection=len(shapes.first("attentions.0.proj_in.weight", None)) == 2,
        added_width=shapes.of(_ADDED, 2)[1] if _ADDED in shapes else 0,
        guidance_width=shapes.of(_GUIDANCE, 2)[1] if _GUIDANCE in shapes else 0,
    )
    _check_skips(config, path)
    _check_attention(config, weights, path)
    for block in (*config.down, *((config.mid,) if config.mid else ()), *config.up):
        _check_divides(path, block.width, config.norm_groups, "normalisation groups")
        if any(block.depths):
            _check_divides(path, block.width, block.heads, "heads")
    return config


def _heads(shapes: Shapes, stated: int | tuple[int, ...] | None, levels: int) -> tuple[int, ...]:
    if stated is None:
        widths = (
            shapes.of(f"down_blocks.{level}.resnets.0.conv1.weight", 4)[0]
            for level in range(levels)
        )
        return tuple(max(1, width // HEAD_WIDTH) for width in widths)
    heads = stated if isinstance(stated, tuple) else (stated,) * levels
    if len(heads) != levels:
        raise mismatch(shapes.path, f"{len(heads)} numbers of heads", f"{levels} levels")
    return heads


def _unet_mid(shapes: Shapes, heads: int) -> UNetBlock | None:
    """Two residual blocks around a transformer, one, or nothing."""
    layers = shapes.count("mid_block.resnets")
    if not layers:
        return None
    width = shapes.of("mid_block.resnets.0.conv2.weight", 4)[0]
    depth = shapes.count("mid_block.attentions.0.transformer_blocks")
    depths = (depth,) if layers == 2 else ()
    if depth and not depths:
        raise damaged(shapes.path, "it lacks 'mid_block.resnets.1.conv1.weight'")
    if layers > 2:
        raise damaged(shapes.path, f"its middle has {layers} residual blocks")
    return UNetBlock(width, depths, heads, resample=False)


def _unet_block(shapes: Shapes, block: str, heads: int, resampler: str) -> UNetBlock:
    layers = shapes.blocks(f"{block}.resnets", "conv1.weight")
    return UNetBlock(
        width=shapes.of(f"{block}.resnets.0.conv1.weight", 4)[0],
        depths=tuple(
            shapes.count(f"{block}.attentions.{layer}.transformer_blocks")
            for layer in range(layers)
        ),
        heads=heads,
        resample=f"{block}.{resampler}.0.conv.weight" in shapes,
    )


def _check_skips(config: UNetConfig, path: Path) -> None:
    """Every residual block on the way up takes one output of the way down."""
    given = 1 + sum(len(block.depths) + block.resample for block in config.down)
    last = len(config.up) - 1
    taken = sum(len(block.depths) for block in config.up)
    if given > taken:
        name = f"up_blocks.{last}.resnets.{len(config.up[last].depths)}.conv1.weight"
        raise damaged(path, f"it lacks {name!r}")
    if given < taken:
        name = f"down_blocks.{last}.resnets.{len(config.down[last].depths)}.conv1.weight"
        raise damaged(path, f"it lacks {name!r}")


_ATTENTION = re.compile(
    r"(?:(down|up)_blocks\.(\d+)|mid_block)\.attentions\.\d+\.transformer_blocks\.\d+"
    r"\.attn([12])\.to_(?:([kv])|q|out\.0)\.weight"
)


def _check_attention(config: UNetConfig, weights: Mapping[str, StoredWeight], path: Path) -> None:
    """Each attention is as wide as its block; SDXS 0.9 and others have narrower ones."""
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
                f"The UNet of {path.name} attends in another way than is run: {name!r} has the "
                f"shape {list(weight.shape)}, not {list(expected)}.",
                "Use another version of the model.",
            )


def vae_config(weights: Mapping[str, StoredWeight], norm_groups: int, path: Path) -> VaeConfig:
    """Sizes of an AutoencoderKL."""
    shapes = Shapes(weights, path)
    levels = shapes.blocks("encoder.down_blocks", "resnets.0.conv1.weight")
    layers = shapes.blocks("encoder.down_blocks.0.resnets", "conv1.weight")
    if shapes.blocks("decoder.up_blocks", "resnets.0.conv1.weight") != levels:
        name = f"decoder.up_blocks.{levels - 1}.resnets.0.conv1.weight"
        raise damaged(path, f"it lacks {name!r}")
    for level in range(levels):
        for block, wanted in (("encoder.down", layers), ("decoder.up", layers + 1)):
            if shapes.count(f"{block}_blocks.{level}.resnets") != wanted:
                name = f"{block}_blocks.{level}.resnets.{wanted - 1}.conv1.weight"
                raise damaged(path, f"it lacks {name!r}")
    config = VaeConfig(
        latent_channels=shapes.of("decoder.conv_in.weight", 4)[1],
        widths=tuple(
            shapes.of(f"encoder.down_blocks.{level}.resnets.0.conv1.weight", 4)[0]
            for level in range(levels)
        ),
        layers=layers,
        norm_groups=norm_groups,
        quant_convolutions="quant_conv.weight" in shapes,
        mid_attention="decoder.mid_block.attentions.0.to_q.weight" in shapes,
        image_channels=shapes.of("encoder.conv_in.weight", 4)[1],
    )
    for width in config.widths:
        _check_divides(path, width, norm_groups, "normalisation groups")
    return config


def clip_text_config(
    weights: Mapping[str, StoredWeight], facts: ClipTextFacts, path: Path
) -> ClipTextConfig:
    """Sizes of a CLIPTextModel."""
    shapes = Shapes(weights, path)
    vocabulary, width = shapes.of("text_model.embeddings.token_embedding.weight", 2)
    config = ClipTextConfig(
        vocabulary=vocabulary,
        width=width,
        mlp_width=shapes.of("text_model.encoder.layers.0.mlp.fc1.weight", 2)[0],
        layers=shapes.count("text_model.encoder.layers"),
        heads=width // HEAD_WIDTH if facts.heads is None else facts.heads,
        positions=shapes.of("text_model.embeddings.position_embedding.weight", 2)[0],
        activation=facts.activation,
        epsilon=facts.epsilon,
    )
    _check_divides(path, width, config.heads, "heads")
    return _with_projection(config, shapes)


def _with_projection(config: ClipTextConfig, shapes: Shapes) -> ClipTextConfig:
    if "text_projection.weight" in shapes:
        projected = shapes.of("text_projection.weight", 2)[0]
        return replace(config, projection=Projection.LINEAR, projected_width=projected)
    if "text_projection" in shapes:
        projected = shapes.of("text_projection", 2)[1]
        return replace(config, projection=Projection.MATRIX, projected_width=projected)
    return config


def check_claims(file: Path, claims: Iterable[tuple[str, object, object]]) -> None:
    """Each claim of a configuration file, as (field, stated, found in the weights), holds."""
    for field, stated, found in claims:
        if stated != found:
            raise mismatch(file, f"{field} = {stated}", f"{found}")


def mismatch(file: Path, stated: str, found: str) -> EngineError:
    """The error for a configuration that is not that of the weights beside it."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{file.parent.name}/{file.name} says {stated}, but the weights have {found}.",
        "The folder mixes files of two models; download it again.",
    )


def _check_divides(path: Path, width: int, parts: int, what: str) -> None:
    if parts < 1 or width % parts:
        raise EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            f"{path.name} is {width} wide, which {parts} {what} do not divide.",
            "It may be of another family, or its configuration of another model.",
        )
