"""Checked values and remarks that the readers of control layers and image prompts share."""

from types import MappingProxyType

import msgspec

from engine.api.fields import bounds_of
from engine.api.image_prompts import AdapterBlocks
from engine.metadata.readers.imported import plain

_EVEN_TYPES = frozenset({"linear", "standard", "original"})
_BLOCKS = MappingProxyType(
    {
        "style transfer": AdapterBlocks.STYLE,
        "composition": AdapterBlocks.COMPOSITION,
        "style and composition": AdapterBlocks.STYLE_AND_COMPOSITION,
        "strong style transfer": AdapterBlocks.STRONG_STYLE,
        "ease in": AdapterBlocks.EASE_IN,
        "ease out": AdapterBlocks.EASE_OUT,
        "ease in-out": AdapterBlocks.EASE_IN_OUT,
        "reverse in-out": AdapterBlocks.REVERSE_IN_OUT,
        "weak input": AdapterBlocks.WEAK_INPUT,
        "weak middle": AdapterBlocks.WEAK_MIDDLE,
        "weak output": AdapterBlocks.WEAK_OUTPUT,
        "strong middle": AdapterBlocks.STRONG_MIDDLE,
        # `IPAdapterSimple`'s, and SwarmUI's.
        "prompt is more important": AdapterBlocks.EASE_OUT,
        "style transfer precise": AdapterBlocks.STYLE_PRECISE,
        "composition precise": AdapterBlocks.COMPOSITION_PRECISE,
    }
)

PICTURES_MISSING = (
    "It followed pictures that are not in the file: choose them in its control layers."
)


def no_map_of(preprocessor: str) -> str:
    """Return the remark that another tool's preprocessor does not exist here."""
    return f'The map of "{plain(preprocessor)}" cannot be made here; choose a finished map.'


def blocks_of(weight_type: object, remarks: list[str]) -> AdapterBlocks:
    """Return the blocks of an image prompt by the weight type of ComfyUI_IPAdapter_plus.

    `remarks` gets a sentence about a type that weighs blocks or steps otherwise.
    """
    if weight_type is None or weight_type in _EVEN_TYPES:
        return AdapterBlocks.ALL
    found = _BLOCKS.get(str(weight_type))
    if found is None:
        remarks.append(
            f'The weight type "{plain(str(weight_type))}" of an image prompt is not available; it '
            "acts on all blocks alike."
        )
    return found or AdapterBlocks.ALL


def number_of(value: object) -> float | None:
    """Return a number, or a text of one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value) if not isinstance(value, str) or len(value) < 30 else None
    except (ValueError, OverflowError):
        return None


def within_bounds(kind: type[msgspec.Struct], name: str, value: object, usual: float) -> float:
    """Return a value that is a number within a field's bounds; the usual one for anything else."""
    number, (low, high) = number_of(value), bounds_of(kind, name)
    return number if number is not None and low <= number <= high else usual


def span_of(start: object, end: object) -> tuple[float, float]:
    """Return the start and the end of an effect, as fractions of the steps; all for nonsense."""
    first, last = number_of(start), number_of(end)
    first, last = 0.0 if first is None else first, 1.0 if last is None else last
    return (first, last) if 0 <= first <= last <= 1 else (0.0, 1.0)
