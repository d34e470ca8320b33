"""Pictures, files and settings in the clipboard reach the form from anywhere in the window."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from engine.api.values import InputRole
from tests.ui.conftest import Desk

INFOTEXT = (
    "a house, (storm:1.2)\nNegative prompt: blurry\n"
    "Steps: 23, Sampler: Euler, CFG scale: 6, Seed: 1234, Size: 512x640"
)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    Image.new("RGB", (64, 48), "teal").save(path)
    return path


def copy(path: Path, *, as_file: bool) -> None:
    """Copy a picture as a file manager does, or as a browser does."""
    data = QMimeData()
    if as_file:
        data.setUrls([QUrl.fromLocalFile(str(path))])
    else:
        data.setImageData(QImage(str(path)))
    QGuiApplication.clipboard().setMimeData(data)


def press_paste(desk: Desk, *, in_prompt: bool) -> None:
    window = desk.window
    widget = window.form.prompt if in_prompt else window.canvas.view
    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def menu_of(desk: Desk) -> QMenu:
    desk.wait(lambda: desk.window.pasting.menu is not None)
    assert desk.window.pasting.menu is not None
    return desk.window.pasting.menu


# The platform of tests has no keyboard to grab.
@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("in_prompt", [True, False])
@pytest.mark.parametrize("as_file", [True, False])
def test_a_picture_is_pasted_as_it_would_be_dropped(
    desk: Desk, photo: Path, *, as_file: bool, in_prompt: bool
) -> None:
    copy(photo, as_file=as_file)
    press_paste(desk, in_prompt=in_prompt)
    if as_file:
        titles = {action.text(): action for action in menu_of(desk).actions()}
        assert list(titles) == ["Use its settings", "Start from it"]
        titles["Start from it"].trigger()
    state = desk.session.generation
    desk.wait(lambda: state.input_path(InputRole.INIT) is not None)
    used = Path(state.input_path(InputRole.INIT) or "")
    assert (used == photo) is as_file
    with Image.open(used) as kept, Image.open(photo) as copied:
        assert kept.convert("RGB").tobytes() == copied.tobytes()
    assert desk.window.form.prompt.toPlainText() == state.prompt
    assert "file:" not in state.prompt


@pytest.mark.parametrize(
    ("suffix", "form"), [(".gif", "GIF"), (".avif", "AVIF"), (".png", "GIF"), (".jpg", "AVIF")]
)
def test_a_picture_of_another_format_is_started_from_as_png(
    desk: Desk, tmp_path: Path, suffix: str, form: str
) -> None:
    """The first frame of an animation is taken."""
    path = tmp_path / f"moving{suffix}"
    frames = [Image.new("RGB", (64, 48), colour) for colour in ("red", "blue")]
    frames[0].save(path, form, save_all=True, append_images=frames[1:], quality=100)
    copy(path, as_file=True)
    press_paste(desk, in_prompt=False)
    state = desk.session.generation
    desk.wait(lambda: state.input_path(InputRole.INIT) is not None)
    with Image.open(state.input_path(InputRole.INIT) or "") as kept:
        red, *others = kept.convert("RGB").tobytes()[:3]
        assert (kept.format, kept.size) == ("PNG", (64, 48))
    assert red > 240 > 20 > max(others)


def test_a_picture_of_another_format_that_is_damaged_is_told(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "moving.gif"
    path.write_bytes(b"GIF89a and no more")
    copy(path, as_file=True)
    press_paste(desk, in_prompt=False)
    desk.wait(lambda: bool(desk.session.notices.notices))
    (notice,) = desk.session.notices.notices
    assert "moving.gif" in notice.message
    assert "PNG" in notice.hint
    assert desk.session.generation.input_path(InputRole.INIT) is None


def test_a_picture_that_cannot_be_kept_is_told(desk: Desk, photo: Path) -> None:
    (desk.session.state_folder / "pasted").write_bytes(b"no folder")
    copy(photo, as_file=False)
    press_paste(desk, in_prompt=False)
    desk.wait(lambda: bool(desk.session.notices.notices))
    assert "cannot be kept" in desk.session.notices.notices[-1].message


def test_a_file_with_one_use_is_used_at_once(desk: Desk, tmp_path: Path) -> None:
    checkpoint = tmp_path / "mix.safetensors"
    checkpoint.write_bytes(b"weights")
    copy(checkpoint, as_file=True)
    press_paste(desk, in_prompt=True)
    assert desk.session.generation.checkpoint == checkpoint
    assert desk.window.pasting.menu is None


@pytest.mark.parametrize("text", [None, "some words"])
def test_a_clipboard_without_use_is_said(desk: Desk, tmp_path: Path, text: str | None) -> None:
    if text is None:
        (tmp_path / "note.txt").write_text("no model")
        copy(tmp_path / "note.txt", as_file=True)
    else:
        QGuiApplication.clipboard().setText(text)
    before = desk.session.generation.build_request()
    press_paste(desk, in_prompt=False)
    (notice,) = desk.session.notices.notices
    assert notice.hint
    assert desk.session.generation.build_request() == before


def test_a_text_is_still_pasted_into_the_prompt(desk: Desk) -> None:
    QGuiApplication.clipboard().setText("a boat. Steps: 3 of them, by the sea")
    desk.window.form.prompt.selectAll()
    press_paste(desk, in_prompt=True)
    assert desk.session.generation.prompt == "a boat. Steps: 3 of them, by the sea"
    assert not desk.session.notices.notices


@pytest.mark.parametrize("in_prompt", [True, False])
def test_settings_that_are_pasted_fill_the_form_and_can_be_undone(
    desk: Desk, *, in_prompt: bool
) -> None:
    state = desk.session.generation
    before = state.build_request()
    QGuiApplication.clipboard().setText(INFOTEXT)
    press_paste(desk, in_prompt=in_prompt)
    desk.wait(lambda: state.steps == 23)
    assert (state.prompt, state.negative_prompt) == ("a house, (storm:1.2)", "blurry")
    assert (state.width, state.height, state.seed) == (512, 640, 1234)
    desk.session.remedies.undo_latest()
    assert state.build_request() == before
