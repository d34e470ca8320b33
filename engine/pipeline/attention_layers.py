"""Checks that a checkpoint has the layers that a request's guidance by attention names."""

from engine.api.features import OptionalSetting
from engine.api.sentences import sentence
from engine.families.base import IdentifiedCheckpoint
from engine.families.network_changes import NetworkChanges
from engine.pipeline.ranges import invalid


def check_changes(changes: NetworkChanges, checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError(REQUEST_INVALID) for guidance by layers that a denoiser does not have."""
    layers = checkpoint.architecture.denoiser.self_attention_layers
    for name in changes.perturbed:
        if not any(f"{layer}.".startswith(f"{name}.") for layer in layers):
            raise invalid(
                sentence("The model has no self-attention in {layer} to perturb.", layer=name),
                sentence("Choose mid, down or up, or the beginning of a layer's name."),
            )
    features = checkpoint.architecture.features
    if changes.shows_attention and OptionalSetting.SELF_ATTENTION_GUIDANCE not in features.options:
        raise invalid(
            sentence("The middle of this model's denoiser has no attention to be guided by."),
            sentence("Set the scale of self-attention guidance to 0."),
        )
