"""The layers of Stable Diffusion checkpoints under the names of LoRA files' dialects."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.clip.lora_names import PROJECTION, TABLES, clip_names
from engine.families.shared.unet.original_names import original_layers
from engine.lora.layers import LayerTable, Target, spelled

_TEXT, _TEXT_2, _UNET = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.DENOISER
# Prefixes with `_` for each dot: of kohya and LyCORIS, of diffusers, of PEFT around one network or
# around all, of the original checkpoints (AI-toolkit), and none.
_UNET_PREFIXES = (
    "lora_unet_",
    "lycoris_unet_",
    "oft_unet_",
    "unet_",
    "base_model_model_unet_",
    "unet_base_model_model_",
    "diffusion_model_",
    "model_diffusion_model_",
)
_TEXT_PREFIXES = (
    "lora_te_",
    "lora_te1_",
    "lycoris_te_",
    "lycoris_te1_",
    "lycoris_text_encoder_",
    "text_encoder_",
    "base_model_model_text_encoder_",
    "text_encoders_clip_l_transformer_",
    "text_encoders_clip_h_transformer_",
    "clip_l_",
)
_TEXT_2_PREFIXES = (
    "lora_te2_",
    "lycoris_te2_",
    "lycoris_text_encoder_2_",
    "text_encoder_2_",
    "base_model_model_text_encoder_2_",
    "text_encoders_clip_g_transformer_",
    "clip_g_",
)
_ANY_PREFIXES = ("", "base_model_model_", "lycoris_")


def lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    has = checkpoint.components
    # The refiner's only text encoder is the second one, for which files have the first one's names.
    text = _TEXT if _TEXT in has or _TEXT_2 not in has else _TEXT_2
    return LayerTable(
        prefixes={
            **dict.fromkeys(_UNET_PREFIXES, (_UNET.value,)),
            **dict.fromkeys(_TEXT_PREFIXES, (text.value,)),
            **dict.fromkeys(_TEXT_2_PREFIXES, (_TEXT_2.value,)),
            **dict.fromkeys(_ANY_PREFIXES, (_UNET.value, text.value)),
        },
        layers={
            component.value: _spelled(_names(component, _targets(checkpoint, component)))
            for component in (_UNET, _TEXT, _TEXT_2)
            if component in has
        },
    )


def _targets(checkpoint: IdentifiedCheckpoint, component: Component) -> dict[str, Target]:
    """Return the targets of a component by canonical layer name."""
    weights = checkpoint.components[component].weights
    targets = {
        layer: Target(component.value, layer, weight.shape, is_table=layer.endswith(TABLES))
        for name, weight in weights.items()
        if (layer := name.removesuffix(".weight")) != name
    }
    # OpenCLIP's own layout, in which it is no layer.
    matrix = weights.get(PROJECTION)
    if matrix is not None:
        shape = matrix.shape[::-1]
        targets[PROJECTION] = Target(component.value, PROJECTION, shape, transposed=True)
    return targets


def _names(component: Component, targets: Mapping[str, Target]) -> Mapping[str, tuple[Target, ...]]:
    if component is not _UNET:
        return clip_names(targets)
    names = {layer: (target,) for layer, target in targets.items()}
    for layer, original in original_layers(targets).items():
        names[original] = (targets[layer],)
    return names


def _spelled(names: Mapping[str, tuple[Target, ...]]) -> dict[str, tuple[Target, ...]]:
    spellings: dict[str, tuple[Target, ...]] = {}
    for layer, targets in names.items():
        name = spelled(layer)
        spellings[name] = targets
        # Diffusers' first files call an attention's output by the list that holds it.
        if name.endswith("_to_out_0"):
            spellings[name.removesuffix("_0")] = targets
    return spellings
