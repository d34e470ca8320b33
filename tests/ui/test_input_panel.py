"""A picture to start from, a mask painted on it, a refiner: chosen in the window, in force."""

import threading
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from engine.api.features import ConcatChannels, Features
from engine.api.request import InputImage, RefinerChoice
from engine.api.values import ErrorCode, InputRole
from tests.app.gallery.made import chunk
from tests.app.supervised import PATIENCE_MS
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from tests.ui.test_form import retype
from tests.ui.test_main_window import drag, drop
from tests.ui.test_pictures import png_header
from ui.actions import ActionName
from ui.labels import size_label
from ui.masks import read_mask


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture that nothing says how it was made."""
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).resize((256, 192), Image.Resampling.BICUBIC).save(path)
    return path


def start(desk: Desk, path: Path) -> None:
    desk.window.form.inputs.start_from(str(path))
    desk.wait(lambda: bool(desk.session.generation.inputs))


def pixels(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def test_a_picture_is_chosen_shown_and_dropped_again(desk: Desk, photo: Path) -> None:
    panel, state = desk.window.form.inputs, desk.session.generation
    assert panel.choose.isVisibleTo(panel)
    assert not panel.card.isVisibleTo(panel)
    start(desk, photo)
    assert state.build_request().inputs == (InputImage(role=InputRole.INIT, path=str(photo)),)
    # In its shape, and as large as the starter draws.
    assert (state.width, state.height) == (256, 192)
    assert panel.name.text() == "photo.png"
    desk.wait(lambda: "256" in panel.detail.text())
    assert panel.strength.field.value() == 0.75
    retype(panel.strength.field, "0.4")
    assert state.build_request().strength == 0.4
    assert unnamed(desk.window) == []
    panel.drop.click()
    assert state.build_request().inputs == ()
    assert (state.width, state.height, state.strength) == (None, None, None)
    assert panel.choose.isVisibleTo(panel)


def test_a_start_picture_that_is_grown_says_so_on_its_card(desk: Desk, photo: Path) -> None:
    start(desk, photo)
    panel, (height, width) = desk.window.form.inputs, pixels(photo).shape[:2]
    desk.session.generation.grow((0, 0, 64, 0), width, height)
    desk.wait(lambda: panel.detail.text() == f"grown to {size_label(width + 64, height)}")
    desk.session.generation.grow((0, 0, 0, 0), width, height)
    assert panel.detail.text() == size_label(width, height)


def gif() -> bytes:
    content = BytesIO()
    Image.new("RGB", (64, 48), "teal").save(content, "GIF")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not a picture", "It is no PNG, JPEG or WebP."),
        (b"", "The file is empty."),
        # One that can be looked at, under the name of another format.
        (gif(), "It is no PNG, JPEG or WebP."),
        (png_header(60_000, 60_000) + chunk(b"IDAT", b"\0" * 99), "It is too large to be shown."),
    ],
)
def test_a_start_picture_that_is_no_picture_is_refused_with_the_reason(
    desk: Desk, tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "photo.png").write_bytes(content)
    desk.window.form.inputs.start_from(str(tmp_path / "photo.png"))
    desk.wait(lambda: bool(desk.session.notices.notices))
    (notice,) = desk.session.notices.notices
    assert notice.error is not None
    assert notice.error.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert notice.hint.startswith(reason)
    assert desk.session.generation.inputs == ()


def test_a_picture_that_became_unreadable_is_told_without_its_mask(
    desk: Desk, photo: Path, tmp_path: Path
) -> None:
    """There is nothing to draw the mask over; Qt would complain."""
    start(desk, photo)
    mask = tmp_path / "mask.png"
    Image.new("L", (64, 64), 255).save(mask)
    photo.write_bytes(b"")
    roles = ((InputRole.INIT, photo), (InputRole.MASK, mask))
    desk.session.generation.inputs = tuple(
        InputImage(role=role, path=str(path)) for role, path in roles
    )
    desk.wait(lambda: desk.window.form.inputs.detail.text() == "cannot be read")


def test_a_start_picture_that_another_program_changed_is_shown_anew(
    desk: Desk, photo: Path
) -> None:
    panel = desk.window.form.inputs
    start(desk, photo)
    desk.wait(lambda: "256" in panel.detail.text())
    desk.wait(lambda: desk.session.edited.is_known(str(photo)))
    Image.new("RGB", (80, 40)).save(photo)
    desk.window.activateWindow()
    desk.session.look_again()
    desk.wait(lambda: "80" in panel.detail.text())


def test_the_mask_that_is_shown_is_the_latest_one(
    desk: Desk, photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, state = desk.window.form.inputs, desk.session.generation
    begun, release, ended = threading.Event(), threading.Event(), list[bool]()
    older, newer = (tmp_path / name for name in ("older.png", "newer.png"))
    for path, level in ((older, 0), (newer, 255)):
        Image.fromarray(np.full((192, 256), level, np.uint8)).save(path)

    def read(path: str, size: QSize) -> QImage | None:
        if path == str(older):
            begun.set()
            release.wait(PATIENCE_MS / 1000)
        return read_mask(path, size)

    monkeypatch.setattr("ui.panels.input_panel.read_mask", read)
    start(desk, photo)

    def shown() -> int:
        look = panel._look  # pyright: ignore[reportPrivateUsage]
        return -1 if look is None or look.mask is None else look.mask.pixelColor(5, 5).red()

    state.paint_within(str(older))
    assert begun.wait(PATIENCE_MS / 1000)
    state.paint_within(str(newer))
    desk.wait(lambda: shown() == 255)
    release.set()
    both = threading.Barrier(2)
    for _ in range(2):
        desk.session.background.run(both.wait, lambda _: ended.append(True))
    desk.wait(lambda: len(ended) == 2)
    assert shown() == 255


def test_a_picture_dropped_on_the_right_is_started_from(desk: Desk, photo: Path) -> None:
    window = desk.window
    data = drag(window, photo)
    assert len(window.drops.overlay.cards) == 2
    drop(window, data, 1)
    desk.wait(lambda: bool(desk.session.generation.inputs))
    assert desk.session.generation.input_path(InputRole.INIT) == str(photo)
    drag(window, photo.with_suffix(".safetensors"))
    assert len(window.drops.overlay.cards) == 1


def test_a_checkpoint_that_edits_asks_for_a_picture(desk: Desk, photo: Path) -> None:
    panel, state = desk.window.form.inputs, desk.session.generation
    state.suggestions = msgspec.structs.replace(
        state.suggestions, features=Features(concat_channels=ConcatChannels.PICTURE)
    )
    assert panel.about.isVisibleTo(panel)
    assert not panel.likeness.isVisibleTo(panel)
    start(desk, photo)
    assert not panel.about.isVisibleTo(panel)
    assert panel.strength.field.value() == 1
    assert panel.likeness.field.value() == 1.5
    retype(panel.likeness.field, "2")
    assert state.build_request().guidance_options.image_guidance == 2


def test_the_picture_on_the_canvas_is_started_from(desk: Desk, photo: Path) -> None:
    desk.session.view.choose(str(photo))
    desk.window.actions_by_name[ActionName.START_FROM].setEnabled(True)
    desk.window.actions_by_name[ActionName.START_FROM].trigger()
    desk.wait(lambda: desk.session.generation.input_path(InputRole.INIT) == str(photo))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (ActionName.START_FROM, "dance.gif"),
        (ActionName.FOLLOW, "dance.gif"),
        (ActionName.PROMPT_BY, "dance.gif"),
        # The Gallery goes by the content, and so does the form.
        (ActionName.START_FROM, "dance.png"),
    ],
)
def test_a_gif_on_the_canvas_steers_as_a_png_file(
    desk: Desk, tmp_path: Path, name: ActionName, file: str
) -> None:
    """The Gallery has GIFs, and its pictures the same actions."""
    (tmp_path / file).write_bytes(gif())
    desk.session.view.choose(str(tmp_path / file))
    desk.wait(lambda: desk.window.info.isVisible())
    desk.window.actions_by_name[name].setEnabled(True)
    desk.window.actions_by_name[name].trigger()
    form = desk.session.generation

    def used() -> list[str]:
        layers = (*form.inputs, *form.controls, *form.image_prompts)
        return [layer.path if isinstance(layer, InputImage) else layer.image for layer in layers]

    desk.wait(lambda: bool(used()))
    (kept,) = used()
    with Image.open(kept) as picture:
        assert (picture.format, picture.size) == ("PNG", (64, 48))


def test_a_refiner_is_offered_for_sdxl_alone(make_desk: MakeDesk, tmp_path: Path) -> None:
    desk = make_desk(real=True).start()
    desk.window.form.advanced.section.open()
    panel, state = desk.window.form.advanced.rows.refiner, desk.session.generation
    models = desk.session.checkpoints.models
    models.mkdir(parents=True)
    refiner = write_sparse(models / "sd_xl_refiner_1.0.safetensors", listings.sdxl())
    write_sparse(models / "another.safetensors", listings.sdxl())
    write_sparse(models / "of another kind.safetensors", listings.sd2())
    desk.session.checkpoints.refresh()
    assert not panel.isVisibleTo(desk.window)
    desk.wait(lambda: len(desk.session.checkpoints.entries) == 4)
    # Thousands of checkpoints are not listed for nobody.
    assert panel.box.count() == 1
    desk.session.open_file(write_sparse(tmp_path / "mine.safetensors", listings.sdxl()))
    desk.wait(lambda: panel.isVisibleTo(desk.window) and panel.box.count() == 3)
    shown = [panel.box.itemText(row) for row in range(panel.box.count())]
    assert shown[:2] == ["None", "sd_xl_refiner_1.0"]
    assert shown[2:] == ["another"]
    assert not panel.switch.isVisibleTo(panel)
    panel.box.setCurrentIndex(1)
    panel.box.activated.emit(1)
    assert panel.switch.isVisibleTo(panel)
    retype(panel.switch.field, "0.6")
    chosen = RefinerChoice(checkpoint=str(refiner), switch_at=0.6)
    assert state.build_request().refiner == chosen
    assert unnamed(desk.window) == []
    panel.box.activated.emit(0)
    assert state.build_request().refiner is None
