"""The list of all the user's files of weights; the facts about each are kept while it is unchanged.

A warm listing opens no file: it asks the disk for each folder and for the state of each file, and
reads all facts from one file of the cache.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from engine.api.model_files import MODEL_SUFFIXES, ModelInfo
from engine.checkpoints.index import Stamp
from engine.control.reading import __name__ as controls
from engine.families.file_contents import recognition_rules
from engine.families.registry import FAMILIES
from engine.folders import PIPELINE_FILE, Folder, walk
from engine.jobs.description_parts import MOST_FILES, parts_of, read_in_parts
from engine.jobs.model_descriptions import __name__ as describing
from engine.jobs.model_descriptions import bare_info
from engine.lora.files_below import ListedFile, files_of, folder_preview, list_one
from engine.lora.listed_facts import KnownFacts, ListedFacts
from engine.upscalers.reading import __name__ as upscalers

# Opens a file and returns the facts in it, given the folder that was listed.
Describe = Callable[[ListedFile, str], ModelInfo]
# Some descriptions, or None where other work may run in between.
Part = tuple[ModelInfo, ...] | None


class ModelIndex:
    """Lists files of weights with the facts about them. For one thread."""

    def __init__(self, known: ListedFacts, describe: Describe) -> None:
        """`known` are the facts that were found out before, and keep those that are new."""
        self._known, self._describe = known, describe
        # The digest of the code that recognises files: after an update they are read again.
        self._rules = ""

    def list(self, folders: Iterable[Path]) -> Generator[Part, None, tuple[str, ...]]:
        """Yield all files below the folders, those whose facts are unknown as not read.

        Then each of these is opened, and yielded once more. The generator's return value is the
        folders that were looked through.
        """
        self._known.refresh()
        modules = (*FAMILIES.modules, describing, controls, upscalers)
        self._rules = recognition_rules(modules)
        unread: list[tuple[ListedFile, str]] = []
        looked_through: list[str] = []
        present: set[str] = set()
        for folder in walk(folders):
            looked_through.append(str(folder.path))
            infos: list[ModelInfo] = []
            root = str(folder.root)
            for listed in islice(_listed(folder), MOST_FILES - len(present)):
                present.add(listed.path)
                facts = self._known.of(listed)
                info = facts.model if facts.rules == self._rules else None
                if info is None:
                    unread.append((listed, root))
                infos.append(_placed(info or bare_info(listed, root), listed, root, facts))
            yield from parts_of(infos)
            yield None
        self._known.forget(looked_through, present)
        yield from read_in_parts(unread, self._read, self._known.save)
        return tuple(looked_through)

    def look(self, path: Path) -> ModelInfo | None:
        """Return a file's description, wherever the file lies; None if there is no such file."""
        listed = list_one(path)
        return None if listed is None else self._describe(listed, str(path.parent))

    def _read(self, file: tuple[ListedFile, str]) -> ModelInfo:
        """Open a file, given the folder that was listed, and note the facts about it."""
        listed, root = file
        info = self._describe(listed, root)
        self._known.note(listed, model=info, rules=self._rules)
        return _placed(info, listed, root, self._known.of(listed))


def _placed(info: ModelInfo, listed: ListedFile, root: str, facts: KnownFacts) -> ModelInfo:
    """Return a description with the name, preview and hash that the file has at present."""
    sha256 = facts.hashes.whole if facts.hashes else info.sha256
    now = listed.name, root, listed.preview, listed.preview_modified_ns, sha256
    if now == (info.name, info.root, info.preview, info.preview_modified_ns, info.sha256):
        return info
    return msgspec.structs.replace(
        info,
        name=listed.name,
        root=root,
        preview=listed.preview,
        preview_modified_ns=listed.preview_modified_ns,
        sha256=sha256,
    )


def _listed(folder: Folder) -> Iterator[ListedFile]:
    """Yield what a folder has directly in it: a diffusers folder is one model, not entered."""
    if any(entry.name == PIPELINE_FILE for entry in folder.entries):
        folder.below.clear()
        yield _as_one(folder)
        return
    folder.below[:] = (entry for entry in folder.below if not entry.name.startswith("."))
    yield from files_of(folder.path, folder.root, folder.entries, MODEL_SUFFIXES)


def _as_one(folder: Folder) -> ListedFile:
    below = folder.path.relative_to(folder.root).as_posix()
    stamp = Stamp(0, folder.modified_ns, folder.modified_ns)
    name = folder.path.name if below == "." else below
    picture, modified_ns = folder_preview(folder.path, folder.entries)
    return ListedFile(
        str(folder.path), name, stamp, preview=picture, preview_modified_ns=modified_ns
    )
