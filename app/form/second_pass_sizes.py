"""The sizes of the form's second passes in pixels, each following from the pass before."""

from app.form.generation import GenerationState
from engine.api.conventions import convention_of
from engine.api.second_sizes import Size, second_size


def pass_sizes(form: GenerationState) -> tuple[Size, ...]:
    """Return the size of the first pass, then that of each second pass."""
    effective, multiple = form.effective, form.suggestions.features.size_multiple
    convention = convention_of(form.convention)
    sizes: list[Size] = [(effective.width, effective.height)]
    for second in form.second_passes:
        sizes.append(second_size(sizes[-1], second, convention, multiple).size)
    return tuple(sizes)
