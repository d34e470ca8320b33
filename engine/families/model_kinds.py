"""The kinds of files of weights in a person's list of models."""

from engine.api.model_files import ModelKind
from engine.families.checkpoint import TEXT_ENCODERS, Component
from engine.families.foreign_kind import ForeignKind, LonePart
from engine.families.foreign_parts import LORA

_BY_PART = {
    LonePart.VAE: ModelKind.VAE,
    LonePart.TINY_VAE: ModelKind.VAE,
    LonePart.FLUX2_VAE: ModelKind.VAE,
    LonePart.CLIP_TEXT_ENCODER: ModelKind.TEXT_ENCODER,
    LonePart.T5_TEXT_ENCODER: ModelKind.TEXT_ENCODER,
    LonePart.QWEN3_TEXT_ENCODER: ModelKind.TEXT_ENCODER,
}
_BY_COMPONENT = {
    Component.VAE: ModelKind.VAE,
    **dict.fromkeys(TEXT_ENCODERS, ModelKind.TEXT_ENCODER),
    Component.DENOISER: ModelKind.DENOISER,
}
# By words of a kind's title.
_BY_WORD = (
    ("ControlNet", ModelKind.CONTROLNET),
    ("T2I adapter", ModelKind.CONTROLNET),
    ("IP-Adapter", ModelKind.IP_ADAPTER),
    ("SigLIP vision encoder", ModelKind.VISION_ENCODER),
    ("embedding", ModelKind.EMBEDDING),
    ("upscaler", ModelKind.UPSCALER),
    ("VAE", ModelKind.VAE),
    ("text encoder", ModelKind.TEXT_ENCODER),
)


def kind_of_foreign(kind: ForeignKind) -> ModelKind:
    """Return the kind of a file that no family runs by itself."""
    if kind.is_checkpoint:
        return ModelKind.CHECKPOINT
    if kind in LORA:
        return ModelKind.LORA
    if kind.part is not None:
        return _BY_PART[kind.part]
    return next(
        (kind_title for word, kind_title in _BY_WORD if word in kind.title), ModelKind.OTHER
    )


def kind_of_parts(parts: tuple[Component, ...]) -> ModelKind:
    """Return the kind of a file with some components of a checkpoint."""
    if Component.DENOISER in parts and len(parts) > 1:
        return ModelKind.CHECKPOINT
    return _BY_COMPONENT[parts[0]] if len(parts) == 1 else ModelKind.CHECKPOINT
