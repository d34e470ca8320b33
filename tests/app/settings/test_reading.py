"""Reading the settings file: whatever is in it, something can be used."""

from pathlib import Path

import pytest

from app.settings.migrations import VERSION
from app.settings.reading import FILE, MOST_BYTES, Fault, read_settings
from app.settings.template import new_text
from app.settings.values import USUAL, Look, stated
from engine.api.saving import PictureFormat


def read(folder: Path, content: bytes | str):
    path = folder / FILE
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_settings(path)


def test_without_a_file_every_setting_is_as_usual(tmp_path: Path) -> None:
    reading = read_settings(tmp_path / FILE)
    assert reading.settings == USUAL
    assert reading.fault is None


def test_settings_are_read_and_unknown_ones_passed_over(tmp_path: Path) -> None:
    reading = read(tmp_path, 'look = "dark"\nquality = 80\npicture_format = "webp"\nfuture = 1\n')
    assert reading.settings.look is Look.DARK
    assert reading.settings.quality == 80
    assert reading.settings.picture_format is PictureFormat.WEBP
    assert reading.refused == ()


def test_a_value_that_makes_no_sense_leaves_the_others(tmp_path: Path) -> None:
    reading = read(tmp_path, 'look = "dark"\nquality = 400\nfile_name = ""\nmetadata = "yes"\n')
    assert reading.settings.look is Look.DARK
    assert reading.settings.quality == USUAL.quality
    assert reading.refused == ("file_name", "quality", "metadata")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"look = ", Fault.DAMAGED),
        (b"\xff\xfe\0", Fault.DAMAGED),
        (b"version = 'x'", Fault.DAMAGED),
        (b"version = 0", Fault.DAMAGED),
        (f"version = {VERSION + 1}".encode(), Fault.NEWER),
        (b"#" * (MOST_BYTES + 1), Fault.UNREADABLE),
        (b"x = " + b"[" * 100_000, Fault.DAMAGED),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: bytes, fault: Fault) -> None:
    reading = read(tmp_path, content)
    assert reading.fault is fault
    assert reading.detail
    assert reading.settings == USUAL


def test_a_folder_in_its_place_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert read_settings(tmp_path / FILE).fault is Fault.UNREADABLE


def test_editors_of_windows_may_mark_the_encoding(tmp_path: Path) -> None:
    assert read(tmp_path, b'\xef\xbb\xbflook = "light"\r\n').settings.look is Look.LIGHT


def test_a_new_file_explains_every_setting_and_changes_none(tmp_path: Path) -> None:
    text = new_text()
    assert read(tmp_path, text).settings == USUAL
    for one in stated().values():
        assert f"\n# {one.name} = " in text
    # Every line of a comment is an example that can be used.
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    assert read(tmp_path, "\n".join(lines)).refused == ()
