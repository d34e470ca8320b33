"""Reading the settings file: whatever is in it, something can be used."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.settings.migrations import VERSION
from app.settings.reading import FILE, MOST_BYTES, Fault, read_settings
from app.settings.template import new_text
from app.settings.values import USUAL, Look, stated
from app.settings.writing import write_settings
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


_PIECES = st.sampled_from(
    [
        *(f"{name} = " for name in stated()),
        *("version = ", "[", "]", "{", "}", '"', "\n", "#", "=", "1", "-1", "1e999", "nan"),
        *("true", "'x'", "1979-05-27T07:32:00Z", "\0", "\ufeff", '"\\ud800"', "80\n"),
    ]
)


@given(st.lists(_PIECES, max_size=30).map("".join) | st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_and_no_values_stop_the_reader(tmp_path: Path, content: str | bytes) -> None:
    reading = read(tmp_path, content)
    assert (reading.fault is None) == (reading.text is not None)
    for name in reading.refused:
        assert getattr(reading.settings, name) == getattr(USUAL, name)
    if reading.text is None:
        return
    # Whatever stands there, a change can be written into it and read again.
    changed = msgspec.structs.replace(reading.settings, quality=55)
    write_settings(tmp_path / FILE, reading, changed, ("quality",))
    assert read_settings(tmp_path / FILE).settings == changed


def test_a_folder_in_its_place_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert read_settings(tmp_path / FILE).fault is Fault.UNREADABLE


def test_editors_of_windows_may_mark_the_encoding(tmp_path: Path) -> None:
    assert read(tmp_path, b'\xef\xbb\xbflook = "light"\r\n').settings.look is Look.LIGHT


def test_a_new_file_explains_every_setting_and_changes_none(tmp_path: Path) -> None:
    text = new_text()
    assert read(tmp_path, text).settings == USUAL
    for setting in stated().values():
        assert f"\n# {setting.name} = " in text
    # Every line of a comment is an example that can be used.
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    assert read(tmp_path, "\n".join(lines)).refused == ()
