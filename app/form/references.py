"""The reference pictures among the input pictures of the form, which stand at their end."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.api.request import InputImage
from engine.api.values import InputRole

if TYPE_CHECKING:
    from app.form.generation import Suggestions

Inputs = tuple[InputImage, ...]


def references_in(inputs: Inputs) -> Inputs:
    """Return the reference pictures, in order."""
    return tuple(file for file in inputs if file.role is InputRole.REFERENCE)


def with_references(inputs: Inputs, paths: Iterable[str]) -> Inputs:
    """Return the input pictures with the files at `paths` as reference pictures."""
    others = (file for file in inputs if file.role is not InputRole.REFERENCE)
    return *others, *(InputImage(role=InputRole.REFERENCE, path=path) for path in paths)


def sent_inputs(inputs: Inputs, suggestions: "Suggestions") -> Inputs:
    """Return the input pictures without reference pictures that the checkpoint does not take."""
    if suggestions.is_guess:
        return inputs
    too_many = references_in(inputs)[suggestions.features.reference_pictures :]
    return tuple(file for file in inputs if not any(file is other for other in too_many))
