"""All cases of the guard, in the order in which they are made."""

from collections.abc import Callable, Iterator

from tests.guard import canvas_cases, cases, family_cases, led_cases, prompt_cases
from tests.guard.cases import Case

_TABLES: tuple[Callable[[], Iterator[Case]], ...] = (
    cases.sampling,
    cases.guidance,
    cases.seeds,
    prompt_cases.prompts,
    prompt_cases.encoders,
    prompt_cases.wildcards,
    canvas_cases.redrawing,
    canvas_cases.masking,
    canvas_cases.growing,
    canvas_cases.editing,
    canvas_cases.tiles,
    family_cases.families,
    family_cases.sizes,
    family_cases.refiners,
    family_cases.parts,
    led_cases.controls,
    led_cases.image_prompts,
    led_cases.second_passes,
    led_cases.attention,
    led_cases.edges,
)
# Of each table, one in so many is made by `make test`; the others are left to `make oracle`.
_ONE_IN = 20


def _together(found: list[Case]) -> list[Case]:
    """Group the cases by checkpoint, so that its networks stay loaded."""
    return sorted(found, key=lambda case: case.checkpoint)


CASES = _together([case for table in _TABLES for case in table()])
OFTEN = frozenset(case.name for table in _TABLES for case in list(table())[::_ONE_IN])
