"""Which of a person's files hold the parts that a checkpoint lacks.

Files are looked at by their headers, and what was found is remembered. A file that looks as if it
fitted is tried as it would be used, so whatever is offered does fit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from engine.api.checkpoints import FittingFile, Gap
from engine.api.request import ComponentFiles
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.identify import FAMILIES, identify, require_words, supply
from engine.families.naming import sort_keys
from engine.families.recognition import listing, recognise

MOST_FILES = 1000
MOST_OFFERED = 5
_SUFFIXES = {".safetensors", ".ckpt"}
_NO_DIGEST = "none"
_TEXTS = {Component.TEXT_ENCODER, Component.TEXT_ENCODER_2}
_FOLDER_SIGN = "model_index.json"
_WORDS = re.compile(r"[a-z]+|[0-9]+")


class Holding(msgspec.Struct, frozen=True):
    """What a file could give: its family, empty for a part alone, and its parts."""

    family: str = ""
    parts: tuple[Component, ...] = ()


NOTHING = Holding()
_HOLDING = msgspec.json.Decoder(Holding)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of a person's checkpoints and parts, with all below it; it need not exist."""

    folder: Path
    known: KnownFiles

    def gaps(self, checkpoint: IdentifiedCheckpoint) -> tuple[Gap, ...]:
        """What the checkpoint lacks, and which files fit, the best first, at most five each.

        Those beside the checkpoint are looked at, too.
        """
        if not checkpoint.missing:
            return ()
        held = {path: self._holding(path) for path in self._files(checkpoint.path)}
        return tuple(
            Gap(
                component=component.value,
                label=component.label,
                fits=tuple(islice(self._fitting(checkpoint, component, held), MOST_OFFERED)),
            )
            for component in checkpoint.missing
        )

    def _files(self, checkpoint: Path) -> Iterable[Path]:
        below = islice(_weights_below(self.folder), MOST_FILES)
        beside = islice(_weights_in(checkpoint.parent), MOST_FILES)
        return [path for path in dict.fromkeys((*below, *beside)) if path != checkpoint]

    def _fitting(
        self,
        checkpoint: IdentifiedCheckpoint,
        component: Component,
        held: Mapping[Path, Holding],
    ) -> Iterator[FittingFile]:
        holders = [path for path, holding in held.items() if component in holding.parts]
        holders.sort(key=lambda path: _rank(path, held[path], component, checkpoint))
        for path in holders:
            files = ComponentFiles(**{component.value: str(path)})
            try:
                supplied = supply(checkpoint, files, _read_header)
                if component in _TEXTS:
                    require_words(supplied)
            except EngineError:
                continue
            yield FittingFile(path=str(path), family=held[path].family)

    def _holding(self, path: Path) -> Holding:
        if path.is_dir():
            return _of_folder(path)
        content = self.known.content(path)
        if content is not None:
            try:
                return _HOLDING.decode(content)
            except msgspec.DecodeError:
                pass
        try:
            index = _read_header(path)
        except EngineError:
            return NOTHING
        holding = _of_file(index)
        if index.state is not None:
            self.known.note_content(index.state, msgspec.json.encode(holding).decode())
        return holding


def _read_header(path: Path) -> TensorIndex:
    """A file without its digest, for which places all over it would be read."""
    return read_index(path, lambda _: _NO_DIGEST)


def _weights_below(folder: Path) -> Iterator[Path]:
    """Checkpoints and parts, file or folder; what is in a diffusers folder is the folder's."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    if any(entry.name == _FOLDER_SIGN for entry in entries):
        yield folder
        return
    for entry in entries:
        if entry.suffix.lower() in _SUFFIXES and entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink():
            yield from _weights_below(entry)


def _weights_in(folder: Path) -> Iterator[Path]:
    """Those directly in a folder."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    yield from (one for one in entries if one.suffix.lower() in _SUFFIXES and one.is_file())


def _of_file(index: TensorIndex) -> Holding:
    text = listing(index.tensors)
    kind = recognise(text)
    if kind is not None:
        return Holding(parts=kind.supplies)
    family = next((family for family in FAMILIES if family.recognises(text)), None)
    if family is None:
        return NOTHING
    try:
        parts = sort_keys(index.tensors, index.path).components
    except EngineError:
        return NOTHING
    return Holding(family.name, tuple(one for one in Component if one in parts))


def _of_folder(path: Path) -> Holding:
    try:
        checkpoint = identify(path)
    except EngineError:
        return NOTHING
    return Holding(checkpoint.family, tuple(checkpoint.components))


def _rank(
    path: Path, holding: Holding, component: Component, checkpoint: IdentifiedCheckpoint
) -> tuple[int, int, int, str]:
    """Small for what is most likely meant: parts alone, then the same family's, then by name.

    VAEs of SD and SDXL have the same shapes, and only their names tell them apart: one that does
    not sound right comes after those that are known to be.
    """
    name = path.stem.casefold()
    other_family = bool(holding.family) and holding.family != checkpoint.family
    sounds_wrong = (
        component is Component.VAE
        and not holding.family
        and ("xl" in name) != checkpoint.family.startswith("sdxl")
    )
    order = 3 if other_family else 2 if sounds_wrong else 1 if holding.family else 0
    mine = {*_WORDS.findall(checkpoint.path.stem.casefold())}
    shared = len(mine & {*_WORDS.findall(name)})
    return order, -shared, len(path.parts), str(path)
