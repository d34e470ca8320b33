"""The check that a Qwen3 encoder is of the size that a transformer needs."""

from collections.abc import Mapping

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component, Parts
from engine.families.qwen3_sizes import PUBLISHED_SIZES
from engine.families.shared.flow.fitting import config_in
from engine.families.shared.stable_diffusion.fitting import transformer_misfit
from engine.graphs.qwen3 import Qwen3Config


def require_fitting_qwen3(parts: Parts, labels: Mapping[Component, Sentence], needed: int) -> None:
    """Require that the Qwen3 encoder is `needed` wide, if there is one.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    config = config_in(parts, Component.TEXT_ENCODER)
    if isinstance(config, Qwen3Config) and config.width != needed:
        found, wanted = _found_words(config), _needed_words(needed)
        raise transformer_misfit(labels, Component.TEXT_ENCODER, found, wanted)


def _found_words(config: Qwen3Config) -> Sentence:
    """Name an encoder by its size, and what has it."""
    for name, size in PUBLISHED_SIZES.items():
        if (size.width, size.mlp_width) != (config.width, config.mlp_width):
            continue
        if not size.encoder_of:
            return sentence("{name} ({width} wide)", name=name, width=size.width)
        return sentence(
            "{name} ({width} wide), the encoder of {models}",
            name=name,
            width=size.width,
            models=size.encoder_of,
        )
    return sentence("{width} wide", width=config.width)


def _needed_words(width: int) -> Sentence:
    """Name the encoder of this width."""
    for name, size in PUBLISHED_SIZES.items():
        if size.width == width:
            return sentence("{name} ({width} wide)", name=name, width=width)
    return sentence("one {width} wide", width=width)
