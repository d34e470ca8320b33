"""Pictures of the form that other programs change in place are known to be others."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.form.masks import keep_mask
from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import InvertOptions
from engine.api.request import InputImage
from engine.api.values import InputRole
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    plan = Plan(map=str(tmp_path / "map.png"))
    staged = Staged(tmp_path / "own", qtbot, fake_command(plan), QUICK)
    yield staged
    staged.end()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(b"as it was")
    return path


def edit(path: Path) -> None:
    """Put other bytes in the place of a file's, in one step: nobody sees half of it."""
    before, written = path.stat().st_mtime_ns, path.with_suffix(".part")
    written.write_bytes(b"edited: " + path.read_bytes())
    os.utime(written, ns=(before + 2_000_000_000, before + 2_000_000_000))
    written.replace(path)


NAMING: dict[str, Callable[[Staged, str], None]] = {
    "start": lambda staged, path: staged.session.generation.start_from(path, 64, 64),
    "reference": lambda staged, path: setattr(
        staged.session.generation, "inputs", (InputImage(role=InputRole.REFERENCE, path=path),)
    ),
    "control": lambda staged, path: setattr(
        staged.session.generation, "controls", (ControlLayer(image=path),)
    ),
    "prompt": lambda staged, path: setattr(
        staged.session.generation, "image_prompts", (ImagePrompt(image="", further=(path,)),)
    ),
}


@pytest.mark.parametrize("place", NAMING)
def test_a_picture_that_was_edited_is_told_once(staged: Staged, picture: Path, place: str) -> None:
    edited, told = staged.session.edited, list[frozenset[str]]()
    edited.changed.connect(told.append)
    NAMING[place](staged, str(picture))
    staged.wait(lambda: edited.is_known(str(picture)))
    staged.session.look_again()
    edit(picture)
    staged.session.look_again()
    staged.wait(lambda: bool(told))
    staged.session.look_again()
    assert told == [frozenset({str(picture)})]
    assert edited.edition(str(picture)) == 1


def test_a_picture_that_was_edited_while_no_form_named_it_is_told(
    staged: Staged, picture: Path
) -> None:
    edited, form = staged.session.edited, staged.session.generation
    form.start_from(str(picture), 64, 64)
    staged.wait(lambda: edited.is_known(str(picture)))
    form.start_anew()
    edit(picture)
    form.start_from(str(picture), 64, 64)
    staged.wait(lambda: edited.edition(str(picture)) == 1)


def test_a_mask_of_ours_never_changes(staged: Staged, picture: Path, tmp_path: Path) -> None:
    edited, form = staged.session.edited, staged.session.generation
    kept = keep_mask(tmp_path / "masks", b"a mask")
    assert isinstance(kept, Path)
    form.start_from(str(picture), 64, 64)
    form.paint_within(str(kept))
    staged.wait(lambda: edited.is_known(str(picture)))
    assert not edited.is_known(str(kept))


def test_the_map_of_an_edited_picture_is_made_anew(
    staged: Staged, picture: Path, tmp_path: Path
) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "map.png")
    session, made = staged.session, list[str]()

    def note(place: str, _made: object) -> None:
        made.append(place)

    session.maps.made.connect(note)
    staged.start()
    layer = ControlLayer(image=str(picture), preprocessor=InvertOptions())
    session.generation.controls = (layer,)
    staged.wait(lambda: session.control_maps.of(layer).path == str(tmp_path / "map.png"))
    edit(picture)
    session.look_again()
    staged.wait(lambda: session.control_maps.of(layer).path == "")
    staged.wait(lambda: session.control_maps.of(layer).path != "")
    assert len(set(made)) == len(made) == 2
