"""The empty canvas: a first picture with one click, and what the computer can do."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.engine.speed import PictureKind
from app.library.first_models import FirstModel, first_models, suggested
from engine.api.machine import AdapterInfo, MachineInfo
from engine.api.model_files import ModelKind
from tests.app.requests import generation_of
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import CARD, CPU, DEVICES
from ui.actions import ActionName
from ui.files.chooser import FileChooser
from ui.first_postcards import POSTCARDS
from ui.labels import duration, file_size
from ui.machine_labels import device_sentence, found_words, picture_time
from ui.models.page import ModelsPage
from ui.panels.first_run import FirstRun
from ui.places import Place

GPU = AdapterInfo(
    vendor="nvidia", name=CARD, memory_total_bytes=12 << 30, integrated=False, backends=("x",)
)
MACHINE = MachineInfo(processor=CPU, memory_total_bytes=32 << 30, adapters=(GPU,))


@pytest.fixture
def first(desk: Desk) -> FirstRun:
    found = desk.window.findChild(FirstRun)
    assert found is not None
    return found


def test_a_postcard_is_one_click_to_a_picture(desk: Desk, first: FirstRun) -> None:
    form = desk.session.generation
    form.steps, form.negative_prompt = 50, "blurry"
    before = form.form
    desk.start()
    QTest.mouseClick(first.postcards[1], Qt.MouseButton.LeftButton)
    (job,) = desk.wait_for_jobs(1)
    assert generation_of(job).prompt == POSTCARDS[1].prompt
    assert (generation_of(job).steps, generation_of(job).negative_prompt) == (None, "")
    desk.session.notices.notices[0].undo()  # pyright: ignore[reportOptionalCall]
    assert msgspec.structs.replace(form.form, seed=None) == before


def test_a_postcard_is_the_starters_whatever_was_chosen(desk: Desk, first: FirstRun) -> None:
    desk.session.generation.checkpoint = Path("/models/other.safetensors")
    first.postcards[0].click()
    assert desk.session.generation.checkpoint == desk.session.checkpoints.starter


def test_a_postcard_draws_another_picture_at_each_click(desk: Desk, first: FirstRun) -> None:
    form = desk.session.generation
    form.seed, form.seed_locked = 5, True
    desk.start()
    for count in (1, 2):
        first.postcards[0].click()
        jobs = desk.wait_for_jobs(count)
        assert not form.seed_locked
    assert len({5, *(generation_of(job).seed for job in jobs)}) == 3


def test_the_hardware_is_told_in_a_sentence(desk: Desk, first: FirstRun) -> None:
    session = desk.session
    session.disk.free_bytes = 210 << 30
    session.devices.machine = MACHINE
    session.devices.devices = DEVICES
    words = first.found.text()
    assert f"{CARD} with 12 GB" in words
    assert "32 GB of memory" in words
    assert "210 GB free on the disk" in words
    session.devices.checking = True
    found, follows = first.found.text().split("\n")
    assert found.startswith("Found: ")
    assert "210 GB" in found
    assert "measured" in follows


def test_a_card_that_is_not_used_is_told_of() -> None:
    processor = next(device for device in DEVICES if device.backend == "cpu")
    assert device_sentence(MACHINE, DEVICES[0]) == f"Your graphics card {CARD} is used."
    assert "not used yet" in device_sentence(MACHINE, processor)
    bare = msgspec.structs.replace(MACHINE, adapters=())
    assert "no graphics card" in device_sentence(bare, processor)
    assert CPU in found_words(bare, None, None)


def test_the_time_of_a_picture_is_rounded_as_in_speech() -> None:
    assert picture_time(1.2) == "A picture takes a few seconds."
    assert picture_time(8.3) == "A picture takes about 8 s."


def test_the_way_to_models_is_shown_where_there_is_a_page(desk: Desk, first: FirstRun) -> None:
    action = desk.window.actions_by_name[ActionName.MODELS]
    for visible in (True, False):
        action.setVisible(visible)
        assert first.cards[2].isVisibleTo(first) is visible


def test_a_suggested_model_fits_memory_and_disk() -> None:
    models = first_models()
    sdxl = next(model for model in models if model.family == "sdxl")
    lora = next(model for model in models if model.kind is ModelKind.LORA)

    def found(models: Sequence[FirstModel], memory: int, disk: int | None) -> FirstModel | None:
        return suggested(models, memory, disk, lambda _model: None)

    assert found(models, 0, None) is models[0]
    assert found((lora, sdxl), 64 << 30, 100 << 30) is sdxl
    assert found((sdxl, models[0]), 8 << 30, 100 << 30) is models[0]
    assert found((sdxl, models[0]), 64 << 30, 5 << 30) is models[0]
    assert found(models, 64 << 30, 1 << 30) is None
    assert found((lora,), 0, None) is None


def test_a_quick_computer_is_suggested_a_larger_model() -> None:
    models = first_models()
    small, large = models[0], max(models, key=lambda model: model.parameters)

    def found(speed: float, memory: int = 64 << 30) -> FirstModel | None:
        return suggested(models, memory, None, lambda model: model.parameters / speed)

    assert found(large.parameters) is large
    assert found(small.parameters / 10) is small
    assert found(1) is small
    assert found(large.parameters, 8 << 30) is small


def test_a_model_is_offered_with_what_it_costs(desk: Desk, first: FirstRun) -> None:
    # The card draws SDXL in seconds.
    model = next(model for model in first_models() if model.family == "sdxl")
    offer = first.offer
    desk.session.devices.machine = MACHINE
    desk.session.devices.devices = DEVICES
    seconds = desk.session.picture_time.of(PictureKind(model.parameters, 1024, 1024, 50))
    assert seconds is not None
    assert model.family not in offer.facts.text().split(" · ")
    assert model.title in offer.words.text()
    assert f"about {file_size(model.size)}" in offer.facts.text()
    assert f"about {duration(seconds)} per picture here" in offer.facts.text()
    assert model.licence in offer.licence.text()
    assert model.title in offer.get.accessibleName()
    assert "huggingface.co" in offer.get.accessibleDescription()


def test_a_model_is_looked_up_and_not_downloaded_by_a_key(
    desk: Desk, first: FirstRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    getting = desk.session.models.getting
    monkeypatch.setattr(getting, "look_up", asked.append)
    assert not first.offer.get.isEnabled()
    desk.session.devices.machine = MACHINE
    first.offer.get.setFocus()
    QTest.keyClick(first.offer.get, Qt.Key.Key_Space)
    assert asked == [first_models()[0].url]
    assert desk.window.places.place is Place.MODELS
    (page,) = desk.window.findChildren(ModelsPage)
    assert page.get.isVisible()
    assert page.get.link.text() == asked[0]
    assert not getting.entries


def test_nothing_is_asked_before_a_model_is_wanted(
    desk: Desk, first: FirstRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(desk.session.models.getting, "look_up", asked.append)
    first.offer.more.click()
    (page,) = desk.window.findChildren(ModelsPage)
    assert page.get.isVisible()
    assert not asked


def test_no_model_is_offered_without_room(desk: Desk, first: FirstRun) -> None:
    bare = msgspec.structs.replace(MACHINE, memory_total_bytes=2 << 30)
    for machine in (MACHINE, bare):
        desk.session.devices.machine = machine
        for part in (first.offer.get, first.offer.licence, first.offer.facts):
            assert part.isVisibleTo(first) is (machine is MACHINE)
    assert "little room" in first.offer.words.text()


def test_models_of_another_program_are_one_click_away(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    models = tmp_path / "home" / "ComfyUI" / "models"
    (models / "checkpoints").mkdir(parents=True)
    for name in ("one", "two"):
        (models / "checkpoints" / f"{name}.safetensors").write_bytes(b"weights")
    desk = make_desk()
    first = desk.window.findChild(FirstRun)
    assert first is not None
    desk.wait(lambda: bool(first.folders.rows))
    (row,) = first.folders.rows
    assert row.words.text().replace("\u200b", "") == "ComfyUI · 2 files"
    QTest.mouseClick(row.use, Qt.MouseButton.LeftButton)
    folders = desk.session.models.folders
    assert row.offer.folder in [folder.path for folder in folders.watched]
    assert desk.window.places.place is Place.MODELS


def test_a_folder_of_ones_own_is_looked_into(
    desk: Desk, first: FirstRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["", str(tmp_path)])

    def answer(*_: object) -> str:
        return next(answers)

    monkeypatch.setattr(FileChooser, "open_folder", answer)
    first.folders.choose.click()
    assert desk.window.places.place is Place.CREATE
    first.folders.choose.click()
    watched = [folder.path for folder in desk.session.models.folders.watched]
    assert tmp_path in watched
    assert desk.window.places.place is Place.MODELS


def test_cards_are_beside_or_below_one_another(desk: Desk, first: FirstRun) -> None:

    def places() -> list[tuple[int, int]]:
        points = [card.mapTo(first, card.rect().topLeft()) for card in first.cards[:2]]
        return [(point.x(), point.y()) for point in points]

    first.resize(800, 600)
    desk.wait(lambda: places()[0][1] == places()[1][1])
    first.resize(420, 600)
    desk.wait(lambda: places()[0][0] == places()[1][0])
