"""Reading one component from a file or folder other than the checkpoint's own."""

from functools import cache
from pathlib import Path

import msgspec

from engine.api.reasons import known_kind
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import (
    DiffusersFolder,
    ReadIndex,
    is_checkpoint_folder,
    read_folder,
    read_part,
)
from engine.errors import EngineError
from engine.families.checkpoint import Component, Parts
from engine.families.family import Family
from engine.families.listing import Listing
from engine.families.recognition import family_of_folder, recognise, subfolders
from engine.families.refusals import cannot_supply
from engine.file_paths import is_folder


def read_component(family: Family, component: Component, path: Path, read: ReadIndex) -> Parts:
    """Read a component for `family` from a file with that part alone or from a whole checkpoint.

    Raises EngineError(CHECKPOINT_MISMATCH) if the component is missing or does not fit the family.
    """
    read = cache(read)
    parts = family.read_lone_part(component, path, read)
    if parts is None:
        read_any = _read_from_folder if is_folder(path) else _read_from_file
        parts = read_any(family, component, path, read)
    if component not in parts.sources:
        raise _refused(family, component, path, sentence("it has none"))
    return parts


def _read_from_file(family: Family, component: Component, path: Path, read: ReadIndex) -> Parts:
    index = read(path)
    listing = Listing(index.tensors)
    found = recognise(listing)
    if found.kind is not None and component not in family.lone_parts(listing, found.kind):
        raise _refused(
            family, component, path, sentence("it is {title}", title=known_kind(found.kind.title))
        )
    if found.family and not family.takes_from(found.family, component):
        raise _refused(
            family,
            component,
            path,
            sentence("it is of the family {title}", title=found.family.title),
        )
    return family.read_file(index, frozenset({component}))


def _read_from_folder(family: Family, component: Component, path: Path, read: ReadIndex) -> Parts:
    """Read a component from a whole diffusers folder, or from a folder of that component alone."""
    mine = [name for name, own in family.subfolders.items() if own is component]
    if is_checkpoint_folder(path):
        folder = read_folder(path, subfolders(), read)
        family_of_folder(folder)
        parts = {name: part for name, part in folder.parts.items() if name in mine}
    else:
        part = read_part(path, read)
        folder = DiffusersFolder(path.parent, "", {})
        parts = dict.fromkeys(mine, part) if part else {}
    return family.read_folder(msgspec.structs.replace(folder, parts=parts))


def _refused(family: Family, component: Component, path: Path, why: Sentence) -> EngineError:
    return cannot_supply(family.label(component), component, path, why)
