"""Reference pictures are chosen in the window, and are in the request of models that take them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor

from engine.api.features import Features
from engine.api.request import InputImage
from engine.api.values import InputRole
from tests.ui.conftest import Desk
from tests.ui.test_accessibility import unnamed
from tests.ui.test_input_panel import start
from tests.ui.test_main_window import drag, drop

TAKES_TWO = Features(reference_pictures=2)


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


@pytest.fixture
def photos(tmp_path: Path) -> tuple[Path, ...]:
    """Three pictures that are wider than high."""
    random, paths = np.random.default_rng(0), tuple(tmp_path / f"{n}.png" for n in range(3))
    for path in paths:
        pixels = random.integers(0, 256, (6, 9, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((288, 192), Image.Resampling.BICUBIC).save(path)
    return paths


def use(desk: Desk, features: Features) -> None:
    """Have a model with these features."""
    state = desk.session.generation
    state.suggestions = msgspec.structs.replace(state.suggestions, features=features)


def take(desk: Desk, path: Path) -> None:
    count = len(desk.session.references.paths)
    desk.window.form.references.take(path)
    desk.wait(lambda: len(desk.session.references.paths) == count + 1)


def in_request(desk: Desk) -> list[str]:
    inputs = desk.session.generation.build_request().inputs
    return [image.path for image in inputs if image.role is InputRole.REFERENCE]


def test_models_without_references_offer_none(desk: Desk) -> None:
    panel = desk.window.form.references
    assert not panel.isVisibleTo(desk.window)
    use(desk, TAKES_TWO)
    assert panel.isVisibleTo(desk.window)
    assert panel.add.isVisibleTo(panel)


def test_references_are_added_shown_and_removed(desk: Desk, photos: tuple[Path, ...]) -> None:
    use(desk, TAKES_TWO)
    panel, state = desk.window.form.references, desk.session.generation
    take(desk, photos[0])
    # The picture that is made has the shape of the first.
    assert (state.width, state.height) == (288, 192)
    take(desk, photos[1])
    assert in_request(desk) == [str(path) for path in photos[:2]]
    assert [card.name.text() for card in panel.cards] == ["0.png", "1.png"]
    assert not panel.add.isVisibleTo(panel)
    assert unnamed(desk.window) == []
    panel.cards[0].remove.click()
    assert in_request(desk) == [str(photos[1])]
    assert (state.width, state.height) == (288, 192)
    panel.cards[0].remove.click()
    assert (state.inputs, state.width, state.height) == ((), None, None)


def test_a_reference_that_another_program_changed_is_shown_anew(
    desk: Desk, photos: tuple[Path, ...]
) -> None:
    use(desk, TAKES_TWO)
    take(desk, photos[0])
    (card,) = desk.window.form.references.cards

    def middle() -> QColor:
        shown = card.thumbnail.grab().toImage()
        return shown.pixelColor(shown.rect().center())

    for colour in ("red", "blue"):
        desk.wait(lambda: desk.session.edited.is_known(str(photos[0])))
        Image.new("RGB", (32, 32), colour).save(photos[0])
        desk.session.look_again()
        desk.wait(lambda colour=colour: middle() == QColor(colour))


def test_references_stay_beside_a_start_picture(desk: Desk, photos: tuple[Path, ...]) -> None:
    use(desk, TAKES_TWO)
    take(desk, photos[0])
    start(desk, photos[1])
    desk.wait(lambda: desk.session.generation.input_path(InputRole.INIT) is not None)
    expected = InputImage(role=InputRole.REFERENCE, path=str(photos[0]))
    assert desk.session.generation.inputs[1:] == (expected,)
    desk.window.form.inputs.drop.click()
    assert desk.session.generation.inputs == (expected,)


def test_a_model_that_takes_none_leaves_them_out_and_says_so(
    desk: Desk, photos: tuple[Path, ...]
) -> None:
    use(desk, TAKES_TWO)
    panel = desk.window.form.references
    for path in photos[:2]:
        take(desk, path)
    use(desk, Features(reference_pictures=1))
    assert in_request(desk) == [str(photos[0])]
    assert "1 of them" in panel.about.text()
    use(desk, Features())
    assert in_request(desk) == []
    assert "left out" in panel.about.text()
    assert panel.isVisibleTo(desk.window)


def test_a_dropped_picture_becomes_a_reference(desk: Desk, photos: tuple[Path, ...]) -> None:
    use(desk, TAKES_TWO)
    data = drag(desk.window, photos[0])
    assert len(desk.window.drops.overlay.cards) == 3
    drop(desk.window, data, 2)
    desk.wait(lambda: desk.session.references.paths == (str(photos[0]),))


def test_a_file_that_is_no_picture_is_told(desk: Desk, tmp_path: Path) -> None:
    use(desk, TAKES_TWO)
    (tmp_path / "no.png").write_bytes(b"no picture")
    desk.window.form.references.take(tmp_path / "no.png")
    desk.wait(lambda: bool(desk.session.notices.notices))
    assert desk.session.generation.inputs == ()


def test_a_reference_that_is_gone_is_an_obstacle(desk: Desk, photos: tuple[Path, ...]) -> None:
    use(desk, TAKES_TWO)
    take(desk, photos[0])
    photos[0].unlink()
    desk.session.obstacle.look_again()
    desk.wait(lambda: desk.session.obstacle.found is not None)
    found = desk.session.obstacle.found
    assert found is not None
    assert "The reference picture 0.png is gone." in found.message
