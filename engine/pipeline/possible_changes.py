"""Checks that a checkpoint's denoiser can be changed as a request asks."""

from engine.api.features import OptionalSetting
from engine.api.sentences import sentence
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.network_changes import NetworkChanges
from engine.pipeline.ranges import invalid


def check_changes(changes: NetworkChanges, checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError(REQUEST_INVALID) for a change that would leave the denoiser as it is."""
    layers, model = checkpoint.architecture.denoiser.self_attention_layers, checkpoint.path.name
    for name in changes.perturbed:
        if not any(f"{layer}.".startswith(f"{name}.") for layer in layers):
            raise invalid(
                sentence(
                    "{model} has no self-attention in {layer} to perturb.", model=model, layer=name
                ),
                sentence("Choose mid, down or up, or the beginning of a layer's name."),
            )
    options = checkpoint.architecture.features.options
    if changes.shows_attention and OptionalSetting.SELF_ATTENTION_GUIDANCE not in options:
        raise invalid(
            sentence("The middle of {model} has no attention to be guided by.", model=model),
            sentence("Set the scale of self-attention guidance to 0."),
        )
    if changes.free_u is not None and OptionalSetting.FREEU not in options:
        raise invalid(
            sentence("{model} has no layers that FreeU changes.", model=model),
            sentence("Turn FreeU off."),
        )
    if any(changes.wraps) and OptionalSetting.TILING not in options:
        raise invalid(
            sentence("{model} cannot draw seamless edges.", model=model),
            sentence("Set the seamless edges to none."),
        )
