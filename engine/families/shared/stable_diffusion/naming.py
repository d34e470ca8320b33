"""From the names weights have in files to canonical names, by rules.

Canonical names are diffusers' for UNet and VAE and Hugging Face's, with `text_model.`, for CLIP.
Two steps: a prefix says which component a key belongs to; within the component, the original
layout is renamed by its structure, and every result must be a word of the component's grammar. A
key that is not would change the picture if it were dropped, so it is an error that names it.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from backends.base import DType, FileSlice
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component
from engine.families.shared.clip.open_clip import hugging_face_names, is_open_clip
from engine.families.shared.keys.numbering import Numbering, damaged
from engine.families.shared.keys.scaling import with_scales
from engine.weights.sources import StoredWeight

Rename = Callable[[str], str]

_PREFIXES = {
    "model.diffusion_model.": Component.DENOISER,
    "diffusion_model.": Component.DENOISER,
    "unet.": Component.DENOISER,
    "first_stage_model.": Component.VAE,
    "vae.": Component.VAE,
    "cond_stage_model.transformer.": Component.TEXT_ENCODER,
    "cond_stage_model.model.": Component.TEXT_ENCODER,
    "conditioner.embedders.0.transformer.": Component.TEXT_ENCODER,
    # The refiner's only one.
    "conditioner.embedders.0.model.": Component.TEXT_ENCODER_2,
    "conditioner.embedders.1.model.": Component.TEXT_ENCODER_2,
    "text_encoders.clip_g.transformer.": Component.TEXT_ENCODER_2,
    "text_encoder_2.": Component.TEXT_ENCODER_2,
    "cond_stage_model.clip_l.transformer.": Component.TEXT_ENCODER,
    "text_encoders.clip_l.transformer.": Component.TEXT_ENCODER,
    "text_encoder.": Component.TEXT_ENCODER,
}
_PREFIX = re.compile("|".join(map(re.escape, _PREFIXES)))
# How keys begin in files of a single component, which need no prefix.
_BARE = (
    (
        Component.DENOISER,
        re.compile(
            r"(input_blocks|middle_block|output_blocks|time_embed|out|label_emb"
            r"|down_blocks|mid_block|up_blocks|conv_in|conv_out|conv_norm_out|time_embedding"
            r"|add_embedding)\."
        ),
    ),
    (
        Component.TEXT_ENCODER,
        re.compile(
            r"(text_model|embeddings|final_layer_norm|encoder\.layers|transformer\.resblocks"
            r"|token_embedding|ln_final)\.|positional_embedding$|text_projection"
        ),
    ),
    (Component.VAE, re.compile(r"(encoder|decoder|quant_conv|post_quant_conv)\.")),
)

# What stands beside a component without a prefix and is no part of it: the training's schedule, its
# average, and marks that tell how it was trained.
_BESIDE_BARE = re.compile(
    r"(model_ema|optimizer_states|callbacks|loops|loss|edm_vpred|denoiser)\."
    r"|(alphas|betas|sqrt_|log_one_minus_|posterior_|lvlb_weights|logvar|scale_factor)"
    r"|(v_pred|ztsnr|edm_mean|edm_std|scaled_fp8|logit_scale|position_ids)$"
)
# Training leftovers and buffers inside a component; nothing computes with them.
_LEFTOVERS = {
    Component.DENOISER: re.compile(r"model_ema\."),
    Component.VAE: re.compile(r"(loss|model_ema)\."),
    Component.TEXT_ENCODER: re.compile(
        r"(text_model\.)?(embeddings\.position_ids|text_projection(\.|$)|logit_scale|attn_mask)"
        r"|vision_model\.|visual_projection\.|visual\."
    ),
    Component.TEXT_ENCODER_2: re.compile(
        r"(text_model\.)?(embeddings\.position_ids|logit_scale|attn_mask)"
        r"|vision_model\.|visual_projection\.|visual\."
    ),
}

_RESNET = r"resnets\.\d+\.(norm[12]|conv[12]|conv_shortcut{})"
_TRANSFORMER = (
    r"attentions\.\d+\.(norm|proj_in|proj_out|transformer_blocks\.\d+\."
    r"(norm[123]|attn[12]\.to_(q|k|v|out\.0)|ff\.net\.(0\.proj|2)))"
)
_CLIP = (
    r"text_model\.(embeddings\.(token|position)_embedding\.weight|(final_layer_norm"
    r"|encoder\.layers\.\d+\.(self_attn\.(q|k|v|out)_proj|layer_norm[12]|mlp\.fc[12])"
    r")\.(weight|bias))"
)
_GRAMMARS = {
    Component.DENOISER: re.compile(
        r"(conv_in|conv_out|conv_norm_out|(time|add)_embedding\.linear_[12]|time_embedding\.cond_proj"
        rf"|((down|up)_blocks\.\d+|mid_block)\.({_RESNET.format('|time_emb_proj')}|{_TRANSFORMER})"
        r"|down_blocks\.\d+\.downsamplers\.0\.conv|up_blocks\.\d+\.upsamplers\.0\.conv"
        r")\.(weight|bias)"
    ),
    Component.VAE: re.compile(
        r"(quant_conv|post_quant_conv|(encoder|decoder)\.(conv_in|conv_out|conv_norm_out"
        r"|mid_block\.attentions\.0\.(group_norm|to_q|to_k|to_v|to_out\.0)"
        rf"|((down|up)_blocks\.\d+|mid_block)\.{_RESNET.format('')}"
        r"|down_blocks\.\d+\.downsamplers\.0\.conv|up_blocks\.\d+\.upsamplers\.0\.conv"
        r"))\.(weight|bias)"
    ),
    Component.TEXT_ENCODER: re.compile(_CLIP),
    # OpenCLIP's projection is stored the other way round, under a name without an ending.
    Component.TEXT_ENCODER_2: re.compile(rf"{_CLIP}|text_projection(\.weight)?"),
}

_TEXT_ENCODERS = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)
_READABLE = {
    DType.F64,
    DType.F32,
    DType.F16,
    DType.BF16,
    DType.F8_E4M3,
    DType.F8_E5M2,
}


@dataclass(frozen=True, slots=True)
class SortedKeys:
    """A file's tensors by component, prefixes removed, and how many belong to none."""

    components: Mapping[Component, Mapping[str, FileSlice]]
    ignored: int


@dataclass(frozen=True, slots=True)
class CanonicalWeights:
    """A component's weights under canonical names, and how many keys were leftovers."""

    weights: Mapping[str, StoredWeight]
    ignored: int


def sort_keys(
    tensors: Mapping[str, FileSlice], path: Path, text: Component = Component.TEXT_ENCODER
) -> SortedKeys:
    """Which component each tensor of a single file belongs to.

    `text` is the text encoder that names without a prefix are of: they do not say. Where a
    component has no prefix, what else has none belongs to it, unless it is known to be left over:
    whether the component has such a part is asked of its grammar.
    """
    components: dict[Component, dict[str, FileSlice]] = {}
    ignored = 0
    bare = _bare(tensors, text)
    for key, tensor in tensors.items():
        component, name = _place(key, text)
        if component is None and not _BESIDE_BARE.match(key):
            component = bare
        if component is None:
            ignored += 1
            continue
        members = components.setdefault(component, {})
        if name in members:
            raise damaged(path, f"it holds {name!r} of the {component.label} twice")
        members[name] = tensor
    return SortedKeys(components, ignored)


def canonical_weights(
    component: Component, tensors: Mapping[str, FileSlice], path: Path
) -> CanonicalWeights:
    """A component's tensors, prefix removed, under their canonical names and in their shapes."""
    keys = with_scales(component, tensors, path)
    found, ignored = keys.tensors, keys.ignored
    if component in _TEXT_ENCODERS and is_open_clip(found):
        found = hugging_face_names(found, path)
    rename = _RENAMES[component](found, path)
    leftovers, grammar = _LEFTOVERS[component], _GRAMMARS[component]
    weights: dict[str, StoredWeight] = {}
    for name, tensor in found.items():
        if leftovers.match(name):
            ignored += 1
            continue
        canonical = rename(name)
        if not grammar.fullmatch(canonical):
            raise _unknown_key(component, name, path)
        if canonical in weights:
            raise damaged(path, f"it holds {name!r} of the {component.label} under two names")
        if tensor.dtype not in _READABLE:
            raise _unreadable_type(component, tensor, path)
        weights[canonical] = _in_shape(canonical, tensor)
    return CanonicalWeights(weights, ignored)


def _bare(tensors: Collection[str], text: Component) -> Component | None:
    """The first component whose names have no prefix here, if any."""
    found = {_place(key, text)[0] for key in tensors if not _PREFIX.match(key)}
    return next(
        (component for component in (Component.DENOISER, *Component) if component in found), None
    )


def _place(key: str, text: Component) -> tuple[Component | None, str]:
    prefix = _PREFIX.match(key)
    if prefix:
        return _PREFIXES[prefix[0]], key[prefix.end() :]
    for component, start in _BARE:
        if start.match(key):
            return text if component is Component.TEXT_ENCODER else component, key
    return None, key


def _in_shape(canonical: str, tensor: StoredWeight) -> StoredWeight:
    # The original VAE attends with 1x1 convolutions: the same numbers as a linear layer's.
    is_linear = ".attentions.0.to_" in canonical and len(tensor.shape) == 4
    return tensor.reshaped(tensor.shape[:2]) if is_linear and tensor.shape[2:] == (1, 1) else tensor


# --- UNet ---

_UNET_MODULES = {
    "time_embed.0": "time_embedding.linear_1",
    "time_embed.2": "time_embedding.linear_2",
    "time_embed.cond_proj": "time_embedding.cond_proj",
    "label_emb.0.0": "add_embedding.linear_1",
    "label_emb.0.2": "add_embedding.linear_2",
    "input_blocks.0.0": "conv_in",
    "out.0": "conv_norm_out",
    "out.2": "conv_out",
}
_UNET_LEAVES = {
    "in_layers.0": "norm1",
    "in_layers.2": "conv1",
    "emb_layers.1": "time_emb_proj",
    "out_layers.0": "norm2",
    "out_layers.3": "conv2",
    "skip_connection": "conv_shortcut",
    "op": "conv",
}
_STACKS = ("input_blocks", "output_blocks")
_NUMBERED_TWICE = (*_STACKS, "label_emb")


def _unet_rename(names: Collection[str], path: Path) -> Rename:
    if not any(name.startswith(_STACKS) for name in names):
        return str
    modules = _UNET_MODULES | _UNetStructure(names, path).modules()

    def rename(name: str) -> str:
        parts = name.split(".")
        length = 3 if parts[0] in _NUMBERED_TWICE else 2
        module = modules.get(".".join(parts[:length]))
        if module is None:
            return name
        leaf, kind = ".".join(parts[length:-1]), parts[-1]
        return ".".join(part for part in (module, _UNET_LEAVES.get(leaf, leaf), kind) if part)

    return rename


class _UNetStructure:
    """Walks the flat lists of the original layout and finds where its levels begin and end.

    `input_blocks` is one list for all levels: a residual block each, with a transformer after it or
    not, and a downsampling convolution between levels. `output_blocks` closes a level with an
    upsampling convolution. So the number of levels and of blocks in each comes from the file.
    """

    def __init__(self, names: Collection[str], path: Path) -> None:
        self._numbering = Numbering(names, path)
        # What a module is shows in the name of its first submodule.
        self._kinds: dict[str, str] = {}
        for name in names:
            parts = name.split(".")
            if parts[0] in _STACKS and len(parts) > 3:
                self._kinds[".".join(parts[:3])] = parts[3]

    def modules(self) -> dict[str, str]:
        """Original module name to diffusers module name."""
        return self._down() | self._middle() | self._up()

    def _down(self) -> dict[str, str]:
        modules: dict[str, str] = {}
        level = layer = 0
        for block in range(1, self._numbering.count("input_blocks")):
            first, second = f"input_blocks.{block}.0", f"input_blocks.{block}.1"
            if self._kinds.get(first) == "op":
                modules[first] = f"down_blocks.{level}.downsamplers.0"
                level, layer = level + 1, 0
                continue
            modules[first] = f"down_blocks.{level}.resnets.{layer}"
            modules[second] = f"down_blocks.{level}.attentions.{layer}"
            layer += 1
        return modules

    def _middle(self) -> dict[str, str]:
        return {
            "middle_block.0": "mid_block.resnets.0",
            "middle_block.1": "mid_block.attentions.0",
            "middle_block.2": "mid_block.resnets.1",
        }

    def _up(self) -> dict[str, str]:
        modules: dict[str, str] = {}
        level = layer = 0
        for block in range(self._numbering.count("output_blocks")):
            modules[f"output_blocks.{block}.0"] = f"up_blocks.{level}.resnets.{layer}"
            upsampled = False
            for place in (f"output_blocks.{block}.1", f"output_blocks.{block}.2"):
                if self._kinds.get(place) == "conv":
                    modules[place] = f"up_blocks.{level}.upsamplers.0"
                    upsampled = True
                elif place in self._kinds:
                    modules[place] = f"up_blocks.{level}.attentions.{layer}"
            level, layer = (level + 1, 0) if upsampled else (level, layer + 1)
        return modules


# --- VAE ---

_VAE_MODULES = (
    (re.compile(r"\.down\.(\d+)\.block\.(\d+)\."), r".down_blocks.\1.resnets.\2."),
    (re.compile(r"\.down\.(\d+)\.downsample\."), r".down_blocks.\1.downsamplers.0."),
    (re.compile(r"\.up\.(\d+)\.block\.(\d+)\."), r".up_blocks.\1.resnets.\2."),
    (re.compile(r"\.up\.(\d+)\.upsample\."), r".up_blocks.\1.upsamplers.0."),
    (re.compile(r"\.mid\.block_1\."), ".mid_block.resnets.0."),
    (re.compile(r"\.mid\.block_2\."), ".mid_block.resnets.1."),
    (re.compile(r"\.mid\.attn_1\."), ".mid_block.attentions.0."),
    (re.compile(r"coder\.norm_out\."), "coder.conv_norm_out."),
    (re.compile(r"\.nin_shortcut\."), ".conv_shortcut."),
)
# The original layout's, and diffusers' own before 0.15.
_VAE_ATTENTION_LEAF = re.compile(
    r"(?<=\.mid_block\.attentions\.0\.)(norm|q|k|v|proj_out|query|key|value|proj_attn)(?=\.)"
)
_VAE_ATTENTION_LEAVES = {
    "norm": "group_norm",
    "q": "to_q",
    "query": "to_q",
    "k": "to_k",
    "key": "to_k",
    "v": "to_v",
    "value": "to_v",
    "proj_out": "to_out.0",
    "proj_attn": "to_out.0",
}
_VAE_UP = re.compile(r"^decoder\.up\.(\d+)\.")


def _vae_rename(names: Collection[str], path: Path) -> Rename:
    levels = Numbering(names, path).count("decoder.up")

    def from_lowest(match: re.Match[str]) -> str:
        # The original numbers the decoder's levels by resolution, diffusers as they run.
        return f"decoder.up.{levels - 1 - int(match[1])}."

    def rename(name: str) -> str:
        name = _VAE_UP.sub(from_lowest, name)
        for pattern, replacement in _VAE_MODULES:
            name = pattern.sub(replacement, name)
        return _VAE_ATTENTION_LEAF.sub(lambda leaf: _VAE_ATTENTION_LEAVES[leaf[1]], name)

    return rename


# --- text encoder ---


def _clip_rename(names: Collection[str], path: Path) -> Rename:
    # transformers before 5 and most files say text_model., transformers 5 and some merges do not.
    begins = ("text_model.", "text_projection")
    return lambda name: name if name.startswith(begins) else f"text_model.{name}"


_RENAMES: Mapping[Component, Callable[[Collection[str], Path], Rename]] = {
    Component.DENOISER: _unet_rename,
    Component.VAE: _vae_rename,
    Component.TEXT_ENCODER: _clip_rename,
    Component.TEXT_ENCODER_2: _clip_rename,
}


def _unknown_key(component: Component, name: str, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"The {component.label} of {path.name} has a part this version does not know: {name!r}.",
        "Dropping it would give wrong pictures. Use a version of the model without it.",
    )


def _unreadable_type(component: Component, tensor: StoredWeight, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        f"The {component.label} of {path.name} is stored as {tensor.dtype}.",
        "This version reads fp32, fp16, bf16 and fp8; get one of those.",
    )
