"""The second passes that the next picture is made with: the engine enlarges whole pictures only."""

from app.form.fields import RequestControls
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole


def used_passes(form: RequestControls) -> tuple[SecondPass, ...]:
    """Return the second passes of the form; none while only a part of a picture is painted."""
    is_masked = any(image.role is InputRole.MASK for image in form.inputs)
    return () if is_masked or form.mask_options.expands else form.second_passes
