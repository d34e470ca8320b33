"""The checkpoints a person can choose by name: the starter, and those in the models folder."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.paths import typed_path
from engine.api.weight_suffixes import weights_name
from engine.file_paths import exists, is_file
from engine.folders import (
    ADAPTER_FOLDERS,
    CHECKPOINT_SUFFIXES,
    PART_FOLDERS,
    PIPELINE_FILE,
    folders_of_models,
    has_suffix,
    repository_of,
    weights_below,
)

STARTER_NAME = "starter"
# Names leave out only this suffix, so that no two files have one name.
_SUFFIX = ".safetensors"


class ListedCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint by the name `--model` takes; its content has not been looked at."""

    name: str
    path: Path


def list_checkpoints(
    models: Path, starter: Path, others: Iterable[Path] = ()
) -> list[ListedCheckpoint]:
    """Return the starter, then files and diffusers folders below `models`, by name.

    Then those below the `others`, folders of models that the user named. Folders of LoRA files and
    embeddings are left out, in the `others` also those of parts and other networks.
    """
    found = [ListedCheckpoint(STARTER_NAME, starter)]
    below = weights_below(models, CHECKPOINT_SUFFIXES, but=ADAPTER_FOLDERS)
    paths = (path for path in below if path != models)
    found += [ListedCheckpoint(listed_name(path, models), path) for path in sorted(paths)]
    known = {checkpoint.path for checkpoint in found}
    for folder in folders_of_models(None, others):
        below = weights_below(folder, CHECKPOINT_SUFFIXES, but=ADAPTER_FOLDERS | PART_FOLDERS)
        new = [path for path in sorted(below) if path != folder and path not in known]
        known.update(new)
        found += [ListedCheckpoint(listed_name(path, folder), path) for path in new]
    return found


def find_checkpoint(
    wanted: str | None, models: Path, starter: Path, others: Iterable[Path] = ()
) -> Path:
    """Return the path for `--model`: a listed name's, else the typed one; the starter for None.

    A name is looked for in `models` first, then in the `others`, folders that the user named.
    `./name` means the file where a listed checkpoint has the same name. A name says where its file
    is; folders are listed only for a bare name of nothing, which may be the only file's of that
    name in any folder.
    """
    if wanted is None or wanted == STARTER_NAME:
        return starter
    folders = (models, *folders_of_models(None, others))
    named = next(filter(None, (_named(wanted, folder) for folder in folders)), None)
    typed = named or typed_path(wanted)
    if named is None and Path(wanted).name == wanted and not exists(typed):
        return only_called(wanted, list_checkpoints(models, starter, others)) or typed
    return typed


def only_called(name: str, entries: Iterable[ListedCheckpoint]) -> Path | None:
    """Return the only checkpoint of a name, with or without suffix, in whichever folder it lies."""
    wanted = weights_name(name).casefold()
    alike = {entry.path for entry in entries if _bare_name(entry.path).casefold() == wanted}
    return alike.pop() if len(alike) == 1 else None


def _bare_name(path: Path) -> str:
    return repository_of(path) or weights_name(path.name)


def _named(wanted: str, models: Path) -> Path | None:
    """Return the path of the listed checkpoint of that name; None if there is none."""
    parts = wanted.split("/")
    if not all(parts) or {".", "..", "~"} & set(parts) or Path(wanted).anchor:
        return None
    path = models / wanted
    if is_file(path / PIPELINE_FILE):
        return path
    names_itself = has_suffix(wanted, CHECKPOINT_SUFFIXES) and not wanted.endswith(_SUFFIX)
    file = path if names_itself else Path(f"{path}{_SUFFIX}")
    return file if is_file(file) else None


def listed_name(path: Path, models: Path) -> str:
    """Return the name of a checkpoint below the models folder."""
    relative = path.relative_to(models)
    return (relative.with_suffix("") if path.suffix == _SUFFIX else relative).as_posix()
