"""A path that Qt composed is found as the folder has it."""

from pathlib import Path
from unicodedata import normalize

from app.listed_names import listed_form

FOLDER, NAME = "Modèles", "アニメが.safetensors"


def test_names_get_the_form_in_which_their_folders_list_them(tmp_path: Path) -> None:
    there = tmp_path / normalize("NFD", FOLDER) / normalize("NFD", NAME)
    there.parent.mkdir()
    there.touch()
    asked = str(tmp_path / FOLDER / NAME)
    assert asked != str(there)
    assert listed_form(asked) == str(there)
    assert listed_form(str(there)) == str(there)


def test_a_name_that_is_there_as_it_is_stays(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        (tmp_path / normalize(form, NAME)).touch()
        asked = str(tmp_path / normalize(form, NAME))
        assert listed_form(asked) == asked


def test_a_path_to_nothing_stays(tmp_path: Path) -> None:
    for path in (str(tmp_path / "é" / "ü"), "/plain/path", ""):
        assert listed_form(path) == path
