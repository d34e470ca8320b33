"""The list of the user's LoRA files, whose facts are kept in the cache while a file is unchanged.

A warm listing opens no LoRA: it asks the disk for each folder and for the state of each file, and
reads all facts from one file of the cache.
"""

from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import msgspec

from engine.api.lora_files import LoraInfo
from engine.api.lora_names import LORA_SUFFIXES
from engine.families.file_contents import recognition_rules
from engine.families.registry import FAMILIES
from engine.jobs.description_parts import MOST_FILES, parts_of, read_in_parts
from engine.jobs.lora_descriptions import __name__ as describing
from engine.lora.facts import __name__ as loras
from engine.lora.files_below import ListedFile, list_below, list_one
from engine.lora.listed_facts import ListedFacts

# Opens a file and returns the facts in it.
Describe = Callable[[ListedFile], LoraInfo]
# Some descriptions, or None where other work may run in between.
Part = tuple[LoraInfo, ...] | None


class LoraIndex:
    """Lists LoRA files with the facts about them. For one thread."""

    def __init__(self, known: ListedFacts, describe: Describe) -> None:
        """`known` are the facts that were found out before, and keep those that are new."""
        self._known, self._describe = known, describe
        # The digest of the code that describes files: after an update they are read again.
        self._rules = ""

    def list(self, folders: Iterable[Path]) -> Generator[Part, None, tuple[str, ...]]:
        """Yield all files below the folders, those whose facts are unknown as not read.

        Then each of these is opened, and yielded once more. The generator's return value is the
        folders that were looked through.
        """
        self._known.refresh()
        self._rules = recognition_rules((*FAMILIES.modules, describing, loras))
        unread: list[ListedFile] = []
        looked_through: list[str] = []
        present: set[str] = set()
        for folder in list_below(folders):
            looked_through.append(folder.path)
            infos: list[LoraInfo] = []
            for listed in folder.files[: MOST_FILES - len(present)]:
                present.add(listed.path)
                facts = self._known.of(listed)
                info = facts.info if facts.info_rules == self._rules else None
                if info is None:
                    unread.append(listed)
                infos.append(_bare(listed) if info is None else _placed(info, listed))
            yield from parts_of(infos)
            yield None
        # The list of all models knows other files there, too.
        self._known.forget(looked_through, present, LORA_SUFFIXES)
        yield from read_in_parts(unread, self._read, self._known.save)
        self._known.save()
        return tuple(looked_through)

    def look(self, path: Path) -> LoraInfo | None:
        """Return a file's description, wherever the file lies; None if there is no such file."""
        listed = list_one(path)
        return None if listed is None else self._described(listed)

    def _read(self, listed: ListedFile) -> LoraInfo:
        """Open a file and note the facts about it."""
        info = self._described(listed)
        self._known.note(listed, info=info, info_rules=self._rules)
        return info

    def _described(self, listed: ListedFile) -> LoraInfo:
        return _placed(self._describe(listed), listed)


def _placed(info: LoraInfo, listed: ListedFile) -> LoraInfo:
    """Return a description with the name and the preview that the file has at present."""
    changes = {
        "name": listed.name,
        "preview": listed.preview,
        "preview_modified_ns": listed.preview_modified_ns,
    }
    if all(getattr(info, name) == value for name, value in changes.items()):
        return info
    return msgspec.structs.replace(info, **changes)


def _bare(listed: ListedFile) -> LoraInfo:
    """Return the description of a file that has not been opened."""
    return _placed(
        LoraInfo(
            path=listed.path,
            name=listed.name,
            size=listed.stamp.size,
            modified_ns=listed.stamp.modified_ns,
            is_read=False,
        ),
        listed,
    )
