"""Names and hashes find the file that the engine would take."""

from pathlib import Path

import pytest

from app.library.lora_names import LoraNames
from engine.api.lora_files import LoraInfo
from engine.lora.files_below import list_below
from engine.lora.folder import LoraFolders
from tests.app.loras import lora


def at(root: str, name: str, suffix: str = "safetensors", **facts: object) -> LoraInfo:
    return lora(name, path=f"{root}/{name}.{suffix}", **facts)


DEEP = at("/one", "a/b/ink")
TOP = at("/one", "ink", hashes=("ab" * 6,))
PICKLE = at("/one", "ink", "pt")
OTHER = at("/two", "Ink", title="my ink")
NAMES = LoraNames((DEEP, PICKLE, TOP, OTHER))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        # Folders in their order, then depth, then safetensors; the exact case where it is there.
        ("ink", (TOP, PICKLE, DEEP)),
        ("INK", (TOP, PICKLE, DEEP, OTHER)),
        ("Ink.ckpt", (OTHER,)),
        ("b\\ink", (DEEP,)),
        # A folder of another machine does not count.
        ("styles/b/ink.pt", (DEEP,)),
        ("My Ink", (OTHER,)),
        ("my ink/", (OTHER,)),
        ("seaside", ()),
        (" ", ()),
    ],
)
def test_a_name_means_files_in_the_engines_order(name: str, found: tuple[LoraInfo, ...]) -> None:
    assert NAMES.meant_by(name) == found


def test_a_hash_chooses_between_files_of_a_name_and_finds_others() -> None:
    for name in ("ink", "renamed"):
        assert NAMES.meant_by(name, "ABABABAB") == (TOP,)
    assert NAMES.meant_by("Ink", "cdcdcdcd") == (OTHER,)
    assert NAMES.meant_by("renamed", "ababa") == ()


def test_files_of_one_name_are_known_to_each_other() -> None:
    assert NAMES.same_name(DEEP) == (TOP, PICKLE, DEEP, OTHER)
    assert LoraNames((TOP,)).same_name(TOP) == ()
    assert NAMES.same_name(lora("ink", path="/elsewhere/ink.safetensors")) == ()


@pytest.mark.parametrize(
    "name", ["ink", "INK", "Ink", "a/ink", "b/ink", "z/a/ink.pt", "lines", "gone/lines.sft", "none"]
)
def test_the_engine_takes_the_same_file(tmp_path: Path, name: str) -> None:
    for file in ("one/a/b/ink.pt", "one/z/ink.sft", "one/ink.ckpt", "one/ink.safetensors",
                 "two/Ink.safetensors", "two/b/ink.safetensors", "two/lines.pt"):  # fmt: skip
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    folders = tmp_path / "one", tmp_path / "two"
    listed = [entry for folder in list_below(folders) for entry in folder.files]
    found = LoraFolders(None, folders).look().find_named(name)
    meant = LoraNames(lora(entry.name, path=entry.path) for entry in listed).meant_by(name)
    wanted = (found.path, *found.others) if found is not None else ()
    assert tuple(Path(info.path) for info in meant) == wanted


def test_a_name_that_is_a_part_of_the_suffix_is_ordered_by_its_depth() -> None:
    top, deep, other = at("/one", "ten"), at("/one", "b/ten"), at("/one", "a")
    assert LoraNames((other, top, deep)).meant_by("ten") == (top, deep)
