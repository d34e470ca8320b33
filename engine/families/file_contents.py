"""The contents of the user's files, read once and remembered until a file changes."""

import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.foreign_kind import LonePart
from engine.families.identify import identify
from engine.families.listing import Listing
from engine.families.recognition import lone_parts, recognise
from engine.families.registry import FAMILIES
from engine.untrusted_json import JsonError, decode_json

_NO_DIGEST = "none"


class FileContents(msgspec.Struct, frozen=True, kw_only=True):
    """The components that a file could supply, and its family; empty for a single component."""

    family: str = ""
    parts: tuple[Component, ...] = ()
    # True for a tiny VAE, whose pictures have less detail.
    is_tiny: bool = False
    # The digest of the recognition code that found these facts; see `recognition_rules`.
    rules: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of a checkpoint; `problem` is the reason it cannot be used, empty for none."""

    family: str = ""
    variant: str = ""
    missing: tuple[Component, ...] = ()
    problem: str = ""
    rules: str = ""


NO_CONTENTS = FileContents()


class _Noted(msgspec.Struct, frozen=True):
    """The remembered facts about a file, each None until it is first asked for."""

    holding: FileContents | None = None
    summary: Summary | None = None


_NOTED = msgspec.json.Decoder(_Noted)


class ContentsReader(msgspec.Struct, frozen=True):
    """Reads the contents of files from their headers, without weights and digests."""

    known: KnownFiles

    def contents(self, path: Path) -> FileContents:
        """Return the components that a file or folder could supply; NO_CONTENTS for other files."""
        if path.is_dir():
            return _held_by_folder(path)
        noted = self._noted(path)
        if noted.holding is not None and noted.holding.rules == recognition_rules(FAMILIES.modules):
            return noted.holding
        try:
            index = read_header(path)
        except EngineError:
            return NO_CONTENTS
        contents = msgspec.structs.replace(
            _held_by(index), rules=recognition_rules(FAMILIES.modules)
        )
        self._note(index, msgspec.structs.replace(noted, holding=contents))
        return contents

    def summary(self, path: Path) -> Summary:
        """Return a summary of the checkpoint in a file or diffusers folder."""
        noted = self._noted(path)
        if noted.summary is not None and noted.summary.rules == recognition_rules(FAMILIES.modules):
            return noted.summary
        indexes: list[TensorIndex] = []

        def read(file: Path) -> TensorIndex:
            indexes.append(read_header(file))
            return indexes[-1]

        try:
            summary = _summary(identify(path, read))
        except EngineError as error:
            summary = Summary(problem=error.message)
        summary = msgspec.structs.replace(summary, rules=recognition_rules(FAMILIES.modules))
        if len(indexes) == 1 and indexes[0].path == path.absolute():
            self._note(indexes[0], msgspec.structs.replace(noted, summary=summary))
        return summary

    def _noted(self, path: Path) -> _Noted:
        content = self.known.content(path.absolute())
        if content is None:
            return _Noted()
        try:
            return decode_json(content.encode(), _NOTED)
        except JsonError:
            return _Noted()

    def _note(self, index: TensorIndex, noted: _Noted) -> None:
        if index.state is not None:
            self.known.note_content(index.state, msgspec.json.encode(noted).decode())


def read_header(path: Path) -> TensorIndex:
    """Read a file's header without a digest, since a digest samples the whole file."""
    return read_index(path, lambda _: _NO_DIGEST)


def _held_by(index: TensorIndex) -> FileContents:
    listing = Listing(index.tensors)
    found = recognise(listing)
    if found.family is None or found.kind is not None:
        is_tiny = found.kind is not None and found.kind.part is LonePart.TINY_VAE
        return FileContents(parts=lone_parts(listing, found.kind), is_tiny=is_tiny)
    try:
        parts = found.family.components_of(index)
    except EngineError:
        return NO_CONTENTS
    return FileContents(family=found.family.name, parts=_in_order(parts))


def _held_by_folder(path: Path) -> FileContents:
    try:
        checkpoint = identify(path, read_header)
    except EngineError:
        return NO_CONTENTS
    return FileContents(family=checkpoint.family, parts=tuple(checkpoint.components))


def _in_order(parts: Sequence[Component]) -> tuple[Component, ...]:
    return tuple(component for component in Component if component in parts)


def _summary(checkpoint: IdentifiedCheckpoint) -> Summary:
    return Summary(family=checkpoint.family, variant=checkpoint.variant, missing=checkpoint.missing)


@cache
def recognition_rules(modules: tuple[str, ...]) -> str:
    """Return a digest of the families' code; after a code change, files are recognised anew."""
    folders = [Path(__file__).parent]
    for name in modules:
        module = sys.modules.get(name)
        file = module.__file__ if module else None
        if file is not None and folders[0] not in Path(file).parents:
            folders.append(Path(file).parent)
    # An installation has no sources, but each has a version of its own.
    digest = hashlib.sha256("\n".join((version("safelight"), *modules)).encode())
    for folder in folders:
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
