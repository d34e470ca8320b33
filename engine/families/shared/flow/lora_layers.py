"""The layers of transformers and their text encoders under the names of LoRA files' dialects.

Files name a transformer's layers as its authors do (kohya, AI-toolkit, ComfyUI), where one change
may belong to several layers, or as diffusers does. References: kohya's sd-scripts
(`networks/lora_flux.py`, `lora_sd3.py`), musubi-tuner (`networks/lora.py`), ComfyUI `comfy/lora.py`
(`model_lora_keys_unet`, `model_lora_keys_clip`), diffusers `loaders/lora_conversion_utils.py`. In
OMI's layout, which OneTrainer wrote, the parts of a layer that joins several are numbered instead
(OneTrainer and InvokeAI, `convert_flux_lora.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.clip.lora_names import TABLES
from engine.lora.layers import LayerTable, Target, spelled

Targets = Mapping[str, Target]
# The targets of each layer under all its names, from those by canonical layer name.
Names = Callable[[Targets], Mapping[str, tuple[Target, ...]]]

# Prefixes with `_` for each dot: of kohya (twice its dot where the whole network was taken for a
# block) and LyCORIS, of OneTrainer, of diffusers, of PEFT around one network or around all, of
# SimpleTuner's first files around PEFT's, of the original checkpoints (AI-toolkit), and none.
_DENOISER_PREFIXES = (
    "lora_unet_",
    "lora_unet__",
    "lycoris_",
    "lycoris_unet_",
    "lora_transformer_",
    "transformer_",
    "base_model_model_",
    "base_model_model_transformer_",
    "transformer_base_model_model_",
    "diffusion_model_",
    "model_diffusion_model_",
    "unet_",
    "",
)
# Of the first text encoder, which files may leave without a number, and of a model's only one.
FIRST_PREFIXES = (
    "lora_te_",
    "lora_te1_",
    "lycoris_te_",
    "lycoris_te1_",
    "text_encoder_",
    "base_model_model_text_encoder_",
)
CLIP_L_PREFIXES = (*FIRST_PREFIXES, "text_encoders_clip_l_transformer_", "clip_l_")
# The parts of each.
_FUSED = {
    "to_qkv": ("to_q", "to_k", "to_v"),
    "to_added_qkv": ("add_q_proj", "add_k_proj", "add_v_proj"),
}
_T5 = "t5xxl"
# OMI's name of T5.
_OMI_T5 = "t5_"


class EncoderNames(msgspec.Struct, frozen=True):
    """A text encoder's prefixes, and the names of its layers behind them."""

    prefixes: Sequence[str]
    names: Names


def numbered_prefixes(number: int, key: str) -> tuple[str, ...]:
    """Return the prefixes of the second or third encoder; ComfyUI calls it `key`."""
    return (
        f"lora_te{number}_",
        f"lycoris_te{number}_",
        f"text_encoder_{number}_",
        f"text_encoders_{key}_transformer_",
        f"{key}_",
    )


def t5_prefixes() -> tuple[str, ...]:
    """Return the prefixes of T5, which kohya's files count as the third encoder everywhere."""
    return (*numbered_prefixes(3, _T5), _OMI_T5)


def own_names(targets: Targets) -> dict[str, tuple[Target, ...]]:
    """Return the targets under their canonical names alone."""
    return {layer: (target,) for layer, target in targets.items()}


def fused_names(targets: Targets) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield the projections that diffusers joins on request, by the names that it gives them.

    SimpleTuner trains them so (`fused_qkv_projections`).
    """
    for layer in targets:
        stem, _, leaf = layer.rpartition(".")
        for fused, parts in _FUSED.items():
            if leaf == parts[-1]:
                yield f"{stem}.{fused}", joined([targets.get(f"{stem}.{part}") for part in parts])


def lone_t5() -> EncoderNames:
    """Return the names of T5 where it is the only encoder."""
    return EncoderNames((*FIRST_PREFIXES, *t5_prefixes()), own_names)


def lone_qwen3(*keys: str) -> EncoderNames:
    """Return the names of Qwen3, the only encoder; `keys` are ComfyUI's names for it."""
    places = tuple(f"text_encoders_{key}_transformer_" for key in keys)
    return EncoderNames((*FIRST_PREFIXES, *places), _qwen3_names)


def _qwen3_names(targets: Targets) -> dict[str, tuple[Target, ...]]:
    names = own_names(targets)
    return names | {f"model.{layer}": found for layer, found in names.items()}


def layer_table(
    checkpoint: IdentifiedCheckpoint, transformer: Names, encoders: Mapping[Component, EncoderNames]
) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""

    def with_fused(targets: Targets) -> Mapping[str, tuple[Target, ...]]:
        return dict(fused_names(targets)) | dict(transformer(targets))

    denoiser = {Component.DENOISER: EncoderNames(_DENOISER_PREFIXES, with_fused)}
    every = denoiser | dict(encoders)
    return LayerTable(
        prefixes={
            prefix: (component.value,)
            for component, known in every.items()
            for prefix in known.prefixes
        },
        layers={
            component.value: {
                spelled(name): found
                for name, found in known.names(targets_of(checkpoint, component)).items()
            }
            for component, known in every.items()
            if component in checkpoint.components
        },
    )


def targets_of(checkpoint: IdentifiedCheckpoint, component: Component) -> dict[str, Target]:
    """Return the targets of a component by canonical layer name."""
    return {
        layer: Target(component.value, layer, weight.shape, is_table=layer.endswith(TABLES))
        for name, weight in checkpoint.components[component].weights.items()
        if (layer := name.removesuffix(".weight")) != name
    }


class OriginalNames(msgspec.Struct, frozen=True):
    """The names of a transformer's layers by its authors, each with the canonical one.

    `modules` has beginnings of names, `layers` layers of blocks, `joined` those that hold several,
    by canonical names in `layers`, with the canonical names of the parts.
    """

    modules: Mapping[str, str]
    layers: Mapping[str, str]
    joined: Mapping[str, tuple[str, ...]]

    def of(self, targets: Targets) -> Iterator[tuple[str, tuple[Target, ...]]]:
        """Yield the original name of each layer, and the targets in it.

        The parts of a joined layer are also yielded alone, under its name and their number.
        """
        tops = {canonical: original for original, canonical in self.modules.items()}
        leaves = {canonical: original for original, canonical in self.layers.items()}
        for layer, target in targets.items():
            name = f"{layer}."
            top = next((top for top in tops if name.startswith(top)), None)
            if top is None:
                continue
            rest = name.removeprefix(top)
            number, _, leaf = rest.partition(".")
            if not number.isdigit():
                yield f"{tops[top]}{rest}".rstrip("."), (target,)
            elif f".{leaf}" in leaves:
                yield f"{tops[top]}{number}{leaves[f'.{leaf}']}".rstrip("."), (target,)
            for joint, members in self._joints(name, targets):
                whole = f"{tops[top]}{number}{leaves.get(joint, joint)}"
                yield whole.rstrip("."), joined(members)
                yield from (
                    (f"{whole}{n}", (member,)) for n, member in enumerate(members) if member
                )

    def _joints(
        self, name: str, targets: Targets
    ) -> Iterator[tuple[str, tuple[Target | None, ...]]]:
        """Yield the joined layers whose first known part is the layer `name`, with all parts."""
        for joint, parts in self.joined.items():
            part = next((part for part in parts if name.endswith(part)), None)
            if part is None:
                continue
            stem = name.removesuffix(part)
            members = tuple(targets.get(f"{stem}{part}"[:-1]) for part in parts)
            first = next(member for member in members if member is not None)
            # What the transformer does not read is left out, but never the last part.
            if f"{first.layer}." == name and members[-1] is not None:
                yield joint, members


def omi_names(targets: Targets) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield the first layer of Flux.1's and Chroma's transformers by OMI's name."""
    if "x_embedder" in targets:
        yield "img_in.proj", (targets["x_embedder"],)


def halves(targets: Targets, stem: str, original: str) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield the names of a modulation whose halves are in opposite order in the two layouts."""
    scale, shift = (targets.get(f"{stem}.{half}") for half in ("scale", "shift"))
    if scale is not None and shift is not None:
        yield f"{stem}.linear", joined([scale, shift])
        yield original, joined([shift, scale])


def joined(targets: Sequence[Target | None]) -> tuple[Target, ...]:
    """Return targets whose changes follow one another in the rows of one module.

    None stands for a layer as wide as the first one, which nothing reads.
    """
    known = [target for target in targets if target is not None]
    if len(targets) == 1:
        return tuple(known)
    found: list[Target] = []
    start = 0
    for target in targets:
        stop = start + (target or known[0]).shape[0]
        if target is not None:
            found.append(msgspec.structs.replace(target, part=(start, stop)))
        start = stop
    return tuple(found)
