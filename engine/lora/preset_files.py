"""A person's own presets of sd-webui-lora-block-weight, in files near the folders of LoRAs."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from engine.regular_file import read_bounded

_WEIGHTS, _ELEMENTS = "lbwpresets.txt", "elempresets.txt"
# Where the extension keeps them below A1111's own folder, in which LoRAs are in models/Lora.
_SCRIPTS = Path("extensions", "sd-webui-lora-block-weight", "scripts")
_LORAS_BELOW = 2
_MOST_BYTES = 1 << 20


class PresetTexts(msgspec.Struct, frozen=True):
    """The texts of the files of weights by block, and of those of sets of elements."""

    weights: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()


def preset_texts(folders: Iterable[Path]) -> PresetTexts:
    """Return the texts of presets in folders of LoRAs, then in A1111's extension beside them.

    A file that is missing, too long or no text is passed over.
    """
    places = [place for folder in folders for place in _places(folder)]
    return PresetTexts(tuple(_texts(places, _WEIGHTS)), tuple(_texts(places, _ELEMENTS)))


def _places(folder: Path) -> Iterator[Path]:
    yield folder
    if len(folder.parts) > _LORAS_BELOW:
        yield folder.parents[_LORAS_BELOW - 1] / _SCRIPTS


def _texts(places: Iterable[Path], name: str) -> Iterator[str]:
    for place in places:
        try:
            yield read_bounded(place / name, _MOST_BYTES).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
