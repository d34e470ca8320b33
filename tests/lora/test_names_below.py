"""A renamed file is found by the hash of its content, which is computed when it is asked for."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.lora import names_below
from engine.lora.files_below import list_one
from engine.lora.folder import LoraFolders, LoraLookup
from engine.lora.hashes import LoraHashes, hashes_of
from engine.lora.listed_facts import ListedFacts
from tests.checkpoints.files import write_sparse


class Hashing:
    """Hashes files, and counts them."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, path: Path, report: Callable[[int], None]) -> LoraHashes:
        self.paths.append(path.name)
        return hashes_of(path, report)


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Hashing:
    counting = Hashing()
    monkeypatch.setattr(names_below, "hashes_of", counting)
    return counting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three files without metadata; the last one is asked for."""
    folder = tmp_path / "loras"
    folder.mkdir()
    for number, name in enumerate(("a", "b", "renamed"), 1):
        path = write_sparse(folder / f"{name}.safetensors", {"lora_unet_x.alpha": (1 << 20,)})
        with path.open("r+b") as file:
            file.seek(-(1 << 20), 2)
            file.write(bytes([number] * (1 << 20)))
    return folder


def lookup(folder: Path) -> LoraLookup:
    """A lookup of a later start of the program."""
    known = ListedFacts(folder.parent / "cache.json", lambda: 2**62)
    return LoraFolders(None, (folder,), known).look()


def wanted_hashes(folder: Path) -> dict[str, str]:
    raw = (folder / "renamed.safetensors").read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    whole, tensors = sha256(raw).hexdigest(), sha256(raw[start:]).hexdigest()
    legacy = sha256(raw[0x100000:0x110000]).hexdigest()[:8]
    return {"AutoV2": whole[:10], "whole": whole, "AutoV3": tensors[:12], "addnet": legacy}


@pytest.mark.parametrize("kind", ["AutoV2", "whole", "AutoV3", "addnet"])
def test_each_kind_of_hash_finds_a_renamed_file(kind: str, folder: Path, hashing: Hashing) -> None:
    found = lookup(folder).find("ink", wanted_hashes(folder)[kind])
    assert found is not None
    assert (found.path.name, found.hashed) == ("renamed.safetensors", 3)
    # Of the older hash only 64 KiB are read.
    assert len(hashing.paths) == (0 if kind == "addnet" else 3)


def test_a_hash_is_computed_once(folder: Path, hashing: Hashing) -> None:
    digits = wanted_hashes(folder)["AutoV3"]
    for hashed in (3, 0):
        found = lookup(folder).find("ink", digits)
        assert found is not None
        assert found.hashed == hashed
    assert lookup(folder).find("ink", "0" * 12) is None
    assert len(hashing.paths) == 3


def test_no_file_is_hashed_where_the_name_is_found(folder: Path, hashing: Hashing) -> None:
    found = lookup(folder).find("a", wanted_hashes(folder)["AutoV3"])
    assert found is not None
    assert found.path.name == "a.safetensors"
    assert lookup(folder).find("ink") is None
    assert hashing.paths == []


def test_a_file_with_the_hash_comes_before_one_of_the_name_that_has_another(
    folder: Path, hashing: Hashing
) -> None:
    listed = list_one(folder / "a.safetensors")
    assert listed is not None
    known = ListedFacts(folder.parent / "cache.json", lambda: 2**62)
    known.note(listed, hashes=hashes_of(folder / "a.safetensors"))
    known.save()
    found = lookup(folder).find("a", wanted_hashes(folder)["AutoV3"])
    assert found is not None
    assert (found.path.name, found.differs) == ("renamed.safetensors", False)
    assert hashing.paths == ["b.safetensors", "renamed.safetensors"]


def test_files_beyond_the_bound_are_counted(
    folder: Path, hashing: Hashing, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (folder / "a.safetensors").stat().st_size
    monkeypatch.setattr(names_below, "MOST_HASHED_BYTES", size)
    looking = lookup(folder)
    assert looking.find("ink", wanted_hashes(folder)["AutoV3"]) is None
    assert (hashing.paths, looking.unhashed) == (["a.safetensors"], 2)
    # The next job goes on where this one ended.
    looking = lookup(folder)
    assert looking.find("ink", wanted_hashes(folder)["AutoV3"]) is None
    assert looking.unhashed == 1


def test_a_cancelled_job_stops_hashing(folder: Path) -> None:
    def stop(_done: int) -> None:
        raise Cancelled

    looking = LoraFolders(None, (folder,)).look(stop)
    with pytest.raises(Cancelled):
        looking.find("ink", wanted_hashes(folder)["AutoV3"])
