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
from engine.families.identify import FAMILIES, identify, supply
from engine.families.naming import sort_keys
from engine.families.recognition import listing, recognise
from engine.graphs.unet import UNetConfig
from engine.untrusted_json import JsonError, decode_json

MOST_FILES = 1000
MOST_OFFERED = 5
_SUFFIXES = {".safetensors", ".ckpt"}
_NO_DIGEST = "none"
_FOLDER_SIGN = "model_index.json"
_TEXTS = {Component.TEXT_ENCODER, Component.TEXT_ENCODER_2}
_TEXT_WIDTH = re.compile(r"token_embedding\.weight \[\d+,(\d+)\]")
_WORDS = re.compile(r"[a-z]+|[0-9]+")


class Holding(msgspec.Struct, frozen=True):
    """What a file could give: its family, empty for a part alone, and its parts.

    `width` is that of a text encoder alone.
    """

    family: str = ""
    parts: tuple[Component, ...] = ()
    width: int = 0


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
                option=component.option.split()[0],
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
        holders = [
            path
            for path, holding in held.items()
            if component in holding.parts and not _is_the_other(holding, component, checkpoint)
        ]
        holders.sort(key=lambda path: _rank(path, held[path], component, checkpoint))
        for path in holders:
            try:
                supply(checkpoint, ComponentFiles(**{component.value: str(path)}), _read_header)
            except EngineError:
                continue
            yield FittingFile(path=str(path), family=held[path].family)

    def _holding(self, path: Path) -> Holding:
        if path.is_dir():
            return _of_folder(path)
        content = self.known.content(path)
        if content is not None:
            try:
                return decode_json(content.encode(), _HOLDING)
            except JsonError:
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
        width = _TEXT_WIDTH.search(text)
        return Holding(parts=kind.supplies, width=int(width[1]) if width else 0)
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


def _is_the_other(holding: Holding, component: Component, checkpoint: IdentifiedCheckpoint) -> bool:
    """Whether a text encoder is the one of two missing ones that is not asked for.

    SDXL's second is the wider one, and no sum of widths tells while both are missing.
    """
    denoiser = checkpoint.components.get(Component.DENOISER)
    if not (holding.width and denoiser and {*checkpoint.missing} >= _TEXTS):
        return False
    config = denoiser.config
    is_wide = isinstance(config, UNetConfig) and 2 * holding.width > config.context_width
    return is_wide != (component is Component.TEXT_ENCODER_2)


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
