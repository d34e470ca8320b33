"""The layers of Flux.1 under the names of LoRA files' dialects.

Files name the transformer's layers as Black Forest Labs do (kohya, AI-toolkit, xlabs), where one
change may belong to several layers, or as diffusers do. References: kohya's sd-scripts
(`networks/lora_flux.py`), ComfyUI `comfy/lora.py` (`model_lora_keys_unet`), diffusers
`loaders/lora_conversion_utils.py` (`_convert_kohya_flux_lora_to_diffusers`,
`_convert_xlabs_flux_lora_to_diffusers`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.shared.clip.lora_names import TABLES, clip_names
from engine.families.shared.flux.keys import JOINED, LAYERS, MODULES
from engine.lora.layers import LayerTable, Target, spelled

_TEXT, _T5, _DENOISER = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.DENOISER
# Prefixes with `_` for each dot: of kohya and LyCORIS, of OneTrainer, of diffusers, of PEFT around
# one network or around all, of the original checkpoints (AI-toolkit), and none.
_DENOISER_PREFIXES = (
    "lora_unet_",
    "lycoris_",
    "lycoris_unet_",
    "lora_transformer_",
    "transformer_",
    "base_model_model_",
    "base_model_model_transformer_",
    "diffusion_model_",
    "model_diffusion_model_",
    "unet_",
    "",
)
_TEXT_PREFIXES = (
    "lora_te_",
    "lora_te1_",
    "lycoris_te_",
    "lycoris_te1_",
    "text_encoder_",
    "base_model_model_text_encoder_",
    "text_encoders_clip_l_transformer_",
    "clip_l_",
)
# kohya numbers T5 as SD 3's third encoder, OneTrainer as the second.
_T5_PREFIXES = (
    "lora_te2_",
    "lora_te3_",
    "lycoris_te2_",
    "lycoris_te3_",
    "text_encoder_2_",
    "text_encoders_t5xxl_transformer_",
    "t5xxl_",
)
# Layers of an original block, each with the part of a name that xlabs gives its change.
_XLABS = {
    ".img_attn.qkv": ".processor.qkv_lora1",
    ".txt_attn.qkv": ".processor.qkv_lora2",
    ".img_attn.proj": ".processor.proj_lora1",
    ".txt_attn.proj": ".processor.proj_lora2",
    ".linear2": ".processor.proj",
}
# The parts of a single block's joined layer that xlabs changes.
_XLABS_SINGLE, _FIRST = ".processor.qkv", ".linear1"
_ATTENDING = 3


def flux_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    has = checkpoint.components
    named = {_DENOISER: _transformer_names, _TEXT: clip_names, _T5: _own_names}
    return LayerTable(
        prefixes={
            **dict.fromkeys(_DENOISER_PREFIXES, (_DENOISER.value,)),
            **dict.fromkeys(_TEXT_PREFIXES, (_TEXT.value,)),
            **dict.fromkeys(_T5_PREFIXES, (_T5.value,)),
        },
        layers={
            component.value: _spelled(names(_targets(checkpoint, component)))
            for component, names in named.items()
            if component in has
        },
    )


def _targets(checkpoint: IdentifiedCheckpoint, component: Component) -> dict[str, Target]:
    """Return the targets of a component by canonical layer name."""
    return {
        layer: Target(component.value, layer, weight.shape, is_table=layer.endswith(TABLES))
        for name, weight in checkpoint.components[component].weights.items()
        if (layer := name.removesuffix(".weight")) != name
    }


def _own_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    return {layer: (target,) for layer, target in targets.items()}


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    """Return the targets by diffusers' names, the original ones and those of xlabs."""
    names = _own_names(targets)
    names |= dict(_last_modulation(targets))
    for original, layers in _original_names(targets):
        found = names[original] = _joined([targets[layer] for layer in layers])
        for leaf, other in _XLABS.items():
            if original.endswith(leaf):
                names[original.removesuffix(leaf) + other] = found
        if original.endswith(_FIRST):
            names[original.removesuffix(_FIRST) + _XLABS_SINGLE] = found[:_ATTENDING]
    return names


def _last_modulation(targets: Mapping[str, Target]) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield the last modulation's names; its halves are in opposite order in the two layouts."""
    halves = [targets.get(f"norm_out.{half}") for half in ("scale", "shift")]
    scale, shift = halves
    if scale is not None and shift is not None:
        yield "norm_out.linear", _joined([scale, shift])
        yield "final_layer.adaLN_modulation.1", _joined([shift, scale])


def _original_names(targets: Mapping[str, Target]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the original name of each layer, and the canonical names of the layers in it."""
    modules = {canonical: original for original, canonical in MODULES.items()}
    leaves = {canonical: original for original, canonical in LAYERS.items()}
    for layer in targets:
        name = f"{layer}."
        top = next((one for one in modules if name.startswith(one)), None)
        if top is None or top == "norm_out.":
            continue
        rest = name.removeprefix(top)
        number, _, leaf = rest.partition(".")
        start = f"{modules[top]}{number}"
        if not rest:
            yield modules[top].removesuffix("."), (layer,)
        elif f".{leaf}" in leaves:
            yield f"{start}{leaves[f'.{leaf}']}".removesuffix("."), (layer,)
        for joint, parts in JOINED.items():
            members = tuple(f"{layer.removesuffix(parts[0][:-1])}{one[:-1]}" for one in parts)
            is_first = name.endswith(parts[0]) and all(one in targets for one in members)
            # In double blocks the parts of a single block's layer lack the last one.
            if is_first and (joint == ".linear1.") == top.startswith("single"):
                yield f"{start}{leaves.get(joint, joint)}".removesuffix("."), members


def _joined(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Return targets whose changes follow one another in the rows of one module."""
    if len(targets) == 1:
        return tuple(targets)
    found: list[Target] = []
    start = 0
    for target in targets:
        stop = start + target.shape[0]
        found.append(replace(target, part=(start, stop)))
        start = stop
    return tuple(found)


def _spelled(names: Mapping[str, tuple[Target, ...]]) -> dict[str, tuple[Target, ...]]:
    return {spelled(name): targets for name, targets in names.items()}
