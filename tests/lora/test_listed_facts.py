"""Facts about unchanged LoRA files are kept, by several programs in one file of the cache."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.api.lora_files import LoraInfo
from engine.lora.file_names import FileNames
from engine.lora.files_below import ListedFile, list_below
from engine.lora.hashes import LoraHashes
from engine.lora.listed_facts import NO_FACTS, KnownFacts, ListedFacts

NAMES = FileNames("ink")
HASHES = LoraHashes("ab" * 32, None, "cd" * 4)


@dataclass
class Store:
    """A file of the cache, and two LoRA files."""

    cache: Path
    folder: Path

    def program(self) -> ListedFacts:
        return ListedFacts(self.cache, lambda: 2**62)

    def files(self) -> list[ListedFile]:
        return [file for folder in list_below([self.folder]) for file in folder.files]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "loras"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.safetensors").write_bytes(b"x")
    return Store(tmp_path / "cache" / "loras.json", folder)


def info_of(listed: ListedFile) -> LoraInfo:
    return LoraInfo(path=listed.path, name=listed.name, size=1, modified_ns=2)


def test_facts_of_several_kinds_are_kept_together(store: Store) -> None:
    listed, _ = store.files()
    known = store.program()
    known.note(listed, names=NAMES)
    known.note(listed, info=info_of(listed))
    known.save()
    facts = store.program().of(listed)
    assert (facts.names, facts.info) == (NAMES, info_of(listed))


def test_two_programs_keep_the_facts_of_both(store: Store) -> None:
    listed, other = store.files()
    first, second = store.program(), store.program()
    first.note(listed, names=NAMES)
    second.note(other, names=NAMES)
    first.save()
    second.save()
    first.refresh()
    for known in (first, second, store.program()):
        assert [known.of(file).names for file in (listed, other)] == [NAMES, NAMES]


def test_a_file_that_is_gone_is_forgotten_by_a_listing_of_its_folder(store: Store) -> None:
    listed, other = store.files()
    known = store.program()
    known.note(listed, names=NAMES)
    known.note(other, names=NAMES)
    known.forget([str(store.folder)], {other.path})
    known.forget([str(store.folder / "a")], ())
    known.save()
    later = store.program()
    assert (later.of(listed), later.of(other).names) == (NO_FACTS, NAMES)


def test_facts_of_a_changed_file_are_not_its_facts(store: Store) -> None:
    listed, _ = store.files()
    known = store.program()
    known.note(listed, names=NAMES)
    Path(listed.path).write_bytes(b"longer")
    changed, _ = store.files()
    assert known.of(changed) == NO_FACTS


def test_hashes_stay_where_only_a_card_beside_the_file_changes(store: Store) -> None:
    listed, _ = store.files()
    known = store.program()
    known.note(listed, names=NAMES, hashes=HASHES)
    Path(listed.path).with_suffix(".civitai.info").write_text("{}")
    changed, _ = store.files()
    assert known.of(changed) == KnownFacts(hashes=HASHES)


def test_facts_that_cannot_be_written_stay_in_memory(store: Store) -> None:
    store.cache.parent.write_text("a file")
    listed, _ = store.files()
    known = store.program()
    known.note(listed, names=NAMES)
    known.save()
    assert known.of(listed).names == NAMES
