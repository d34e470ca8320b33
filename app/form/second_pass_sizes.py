"""The sizes of the form's second passes in pixels, each following from the pass before."""

from app.form.generation import GenerationState

Size = tuple[int, int]


def pass_sizes(form: GenerationState) -> tuple[Size, ...]:
    """Return the size of the first pass, then that of each second pass.

    A scaled side loses what is beyond a whole multiple of the checkpoint's, as in A1111.
    """
    effective, multiple = form.effective, form.suggestions.features.size_multiple
    sizes: list[Size] = [(effective.width, effective.height)]
    for one in form.second_passes:
        size = sizes[-1][0] * one.scale, sizes[-1][1] * one.scale
        if one.width is not None and one.height is not None:
            size = one.width, one.height
        sizes.append((_whole(size[0], multiple), _whole(size[1], multiple)))
    return tuple(sizes)


def _whole(side: float, multiple: int) -> int:
    return max(int(side) // multiple, 1) * multiple
