"""The second passes that the next picture is made with: the engine enlarges whole pictures only."""

from typing import TYPE_CHECKING

import msgspec

from app.form.used_options import offered
from engine.api.features import Features, OptionalSetting
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole

if TYPE_CHECKING:
    from app.form.generation import GenerationState

Passes = tuple[SecondPass, ...]


def paints_a_part(form: "GenerationState") -> bool:
    """Return True if only a part of a picture is painted, of which the engine enlarges none."""
    is_masked = any(image.role is InputRole.MASK for image in form.inputs)
    return is_masked or form.mask_options.expands


def lacks_passes(form: "GenerationState") -> bool:
    """Return True if the checkpoint would draw a second pass, and draws none, as one that edits."""
    known = form.suggestions
    is_offered = OptionalSetting.SECOND_PASSES in known.features.options
    own = all(second.checkpoint is not None for second in form.second_passes)
    return known.knows_features and not is_offered and not own


def used_passes(form: "GenerationState") -> Passes:
    """Return the second passes of the form, or none where they are left out.

    A sampler or schedule that a pass's checkpoint lacks is left out: the first pass's is taken.
    """
    if paints_a_part(form) or lacks_passes(form):
        return ()
    return tuple(
        fitting_pass(second, form.features_of(second.checkpoint)) for second in form.second_passes
    )


def fitting_pass(second: SecondPass, features: Features) -> SecondPass:
    """Return a pass without a sampler or schedule that is not in its model's `features`."""
    return msgspec.structs.replace(
        second,
        sampler=offered(second.sampler, features.samplers),
        schedule=offered(second.schedule, features.schedules),
    )
