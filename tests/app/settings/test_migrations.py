"""Settings files of other versions: older ones are read, and written anew at the next change."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from app.settings.migrations import Migration
from app.settings.reading import FILE, Fault, read_settings
from app.settings.values import USUAL, Language, Look
from app.settings.writing import write_settings

# What the first version wrote, with every setting; a file like it must be read for ever.
FIRST = Path(__file__).with_name("version_1.toml")
# Two steps of a road: the look was called theme, and a dark one night.
ROAD = (
    Migration(renamed={"theme": "colours"}),
    Migration(renamed={"colours": "look"}, values={"look": {"night": "dark"}}),
)
OLD = """# mine
version = 1
theme = "night" # at home
quality = 80

[other]
theme = "night"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / FILE
    path.write_text(text)
    return path


def test_a_file_of_the_first_version_is_read_whole() -> None:
    reading = read_settings(FIRST)
    assert (reading.fault, reading.refused) == (None, ())
    wanted = tomllib.loads(FIRST.read_text())
    assert wanted.pop("version") == 1
    assert {name: msgspec.to_builtins(getattr(reading.settings, name)) for name in wanted} == wanted
    assert all(wanted[name] != msgspec.to_builtins(getattr(USUAL, name)) for name in wanted)
    assert reading.settings.language is Language.GERMAN


def test_an_older_file_is_read_through_every_step(tmp_path: Path) -> None:
    path = write(tmp_path, OLD)
    reading = read_settings(path, ROAD)
    assert reading.settings.look is Look.DARK
    assert reading.settings.quality == 80
    assert path.read_text() == OLD


def test_a_file_from_the_middle_of_the_road_takes_the_steps_that_are_left(tmp_path: Path) -> None:
    path = write(tmp_path, 'version = 2\ntheme = "light"\ncolours = "night"\n')
    assert read_settings(path, ROAD).settings.look is Look.DARK


def test_a_change_writes_the_newest_version_and_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    path = write(tmp_path, OLD)
    reading = read_settings(path, ROAD)
    changed = msgspec.structs.replace(reading.settings, metadata=False)
    write_settings(path, reading, changed, ("metadata",))
    text = path.read_text()
    table = tomllib.loads(text)
    assert table["version"] == 3
    assert (table["look"], table["metadata"]) == ("dark", False)
    assert "theme" not in table
    assert table["other"] == {"theme": "night"}
    assert text.startswith("# mine\n")
    assert read_settings(path, ROAD).settings == changed


def test_the_newer_name_counts_where_both_are_written(tmp_path: Path) -> None:
    path = write(tmp_path, 'version = 1\ntheme = "night"\ncolours = "light"\n')
    assert read_settings(path, ROAD).settings.look is Look.LIGHT


@pytest.mark.parametrize("value", ["[1, 2]", "5", '"mauve"', "inf", "{ a = 1 }"])
def test_a_value_without_sense_is_refused_after_the_steps_too(tmp_path: Path, value: str) -> None:
    reading = read_settings(write(tmp_path, f"version = 1\ntheme = {value}\nquality = 80\n"), ROAD)
    assert reading.refused == ("look",)
    assert reading.settings.quality == 80


def test_a_file_of_a_version_to_come_is_newer(tmp_path: Path) -> None:
    path = write(tmp_path, "version = 4\n")
    assert read_settings(path, ROAD).fault is Fault.NEWER
