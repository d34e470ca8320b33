"""A checkpoint's facts, evidence, gaps and a person's declarations, all in the window."""

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QLabel

from app.library.checkpoint_declarations import NO_DECLARATION
from engine.api.request import ComponentFiles
from engine.api.values import PredictionType
from engine.families.identify import identify
from engine.families.registry import FAMILIES
from engine.pipeline.inspection import inspect
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import VAE
from tests.families.test_identify import SMALL
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from tests.unstated_checkpoint import PREDICTS_NOISE, write_unstated
from ui.checkpoint_labels import family_about
from ui.dialogs.checkpoint_dialog import CheckpointDialog
from ui.item_models.checkpoint_item_model import CheckpointItemModel
from ui.item_models.refiner_item_model import RefinerItemModel
from ui.widgets.choice_rows import ABOUT_ROLE, ChoiceFilter


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    desk = make_desk(real=True)
    desk.start()
    return desk


def lacking_a_vae(folder: Path) -> Path:
    names = {name: shape for name, shape in SMALL.items() if not name.startswith(VAE)}
    return write_sparse(folder / "mine.safetensors", names)


def texts(dialog: CheckpointDialog) -> list[str]:
    content = dialog.facts.widget()
    assert content is not None
    return [label.text().replace("\u200b", "") for label in content.findChildren(QLabel)]


def test_one_press_gives_a_checkpoint_what_it_lacks(desk: Desk, tmp_path: Path) -> None:
    panel, models = desk.window.form.checkpoint.gaps, desk.session.checkpoints.models
    (models / "vae").mkdir(parents=True)
    vae = models / "vae" / "good.safetensors"
    write_sparse(vae, listings.ldm_vae(listings.EIGHTFOLD_VAE))
    whole_names = listings.original(
        listings.SMALL_UNET, listings.EIGHTFOLD_VAE, listings.SMALL_CLIP
    )
    whole = write_sparse(models / "whole.safetensors", whole_names)
    desk.session.open_file(lacking_a_vae(tmp_path))
    desk.wait(lambda: len(panel.rows) == 1)
    row = panel.rows[0]
    assert row.words.text().startswith("VAE is missing")
    shown = [row.box.itemText(index) for index in range(row.box.count())]
    assert shown == [str(Path("vae") / "good"), "whole (of this Stable Diffusion 1 model)"]
    assert unnamed(desk.window) == []
    row.use.click()
    desk.wait(lambda: panel.rows == [])
    assert panel.given.text.text().replace("\u200b", "") == "VAE: good.safetensors"
    request = desk.session.generation.build_request()
    assert request.components == ComponentFiles(vae=str(vae))
    assert unnamed(desk.window) == []
    panel.given.drop.click()
    desk.wait(lambda: len(panel.rows) == 1)
    assert desk.session.generation.declaration == NO_DECLARATION
    panel.rows[0].box.setCurrentIndex(1)
    panel.rows[0].use.click()
    assert desk.session.generation.used_components.vae == str(whole)


def test_a_file_can_be_chosen_where_none_fits(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = desk.window.form.checkpoint.gaps
    desk.session.open_file(lacking_a_vae(tmp_path))
    desk.wait(lambda: len(panel.rows) == 1)
    assert "none of your files" in panel.rows[0].words.text()
    assert not panel.rows[0].use.isVisible()
    assert panel.rows[0].other.text() == "Choose a file with it…"
    (tmp_path / "elsewhere").mkdir()
    vae = tmp_path / "elsewhere" / "v.safetensors"
    write_sparse(vae, listings.ldm_vae(listings.EIGHTFOLD_VAE))

    def chosen(*_: object) -> str:
        return str(vae)

    monkeypatch.setattr("ui.panels.gap_panel.FileChooser.open_file", chosen)
    panel.rows[0].other.click()
    desk.wait(lambda: panel.rows == [])
    assert desk.session.generation.used_components.vae == str(vae)


def test_a_person_says_what_it_is_and_takes_it_back(desk: Desk, tmp_path: Path) -> None:
    path = write_unstated(tmp_path / "found.safetensors", PREDICTS_NOISE)
    desk.session.open_file(path)
    dialog = desk.window.form.checkpoint.show_details()
    desk.wait(lambda: "Why" in texts(dialog))
    assert "SD 2.x, noise prediction because nothing says otherwise" in texts(dialog)
    assert "epsilon (to be confirmed by the first picture)" in texts(dialog)
    assert dialog.declared.prediction.itemText(0) == "Auto · epsilon"
    assert [
        dialog.declared.family.itemText(row) for row in range(dialog.declared.family.count())
    ] == [
        "Auto · Stable Diffusion 2",
        "Stable Diffusion 1",
        "Stable Diffusion 2",
        "SDXL",
        "SDXL refiner",
        "Flux.1",
        "Z-Image",
        "Chroma",
        "Stable Diffusion 3 and 3.5",
        "FLUX.2 klein",
    ]
    assert not dialog.reset.isEnabled()
    row = dialog.declared.prediction.findData(PredictionType.V.value)
    dialog.declared.prediction.setCurrentIndex(row)
    dialog.declared.prediction.activated.emit(row)
    desk.wait(lambda: "v (velocity)" in texts(dialog))
    assert "v-prediction" in desk.window.form.checkpoint.about.text()
    row = dialog.declared.family.findData("sdxl")
    dialog.declared.family.setCurrentIndex(row)
    dialog.declared.family.activated.emit(row)
    desk.wait(lambda: any("cannot be taken for SDXL" in text for text in texts(dialog)))
    assert "cannot be taken for SDXL" in desk.window.form.checkpoint.problem.text()
    assert unnamed(dialog) == []
    dialog.reset.click()
    desk.wait(lambda: "SD 2.x, noise prediction because nothing says otherwise" in texts(dialog))
    assert desk.session.generation.declaration == NO_DECLARATION
    assert dialog.declared.family.currentIndex() == dialog.declared.prediction.currentIndex() == 0


def test_texts_of_strangers_are_shown_as_plain_text(desk: Desk, tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL)
    card = '{"baseModel": "<b>SDXL</b>", "model": {"name": "<img src=x>"}}'
    (tmp_path / "x.civitai.info").write_text(card)
    desk.session.open_file(path)
    dialog = desk.window.form.checkpoint.show_details()
    desk.wait(lambda: "<img src=x>" in texts(dialog))
    content = dialog.facts.widget()
    assert content is not None
    formats = {label.textFormat() for label in content.findChildren(QLabel)}
    assert formats == {Qt.TextFormat.PlainText}


def test_the_starter_is_called_by_its_title(desk: Desk) -> None:
    dialog = desk.window.form.checkpoint.show_details()
    shown = {label.text() for label in dialog.facts.findChildren(QLabel)}
    assert "Safelight starter" in shown
    assert "model" not in shown


def test_each_model_to_choose_has_a_line_about_it(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "dreams"
    folder.mkdir()
    path = write_sparse(folder / "dreamer.safetensors", listings.original())
    store = desk.session.checkpoints
    store.add(path)
    model = desk.window.form.checkpoint.model
    about = [model.data(model.index(row, 0), ABOUT_ROLE) for row in range(model.rowCount())]
    assert about[0].endswith("it comes with Safelight.")
    assert about[-1] == f"in {folder}"
    store._keep(path, inspect(identify(path)))  # pyright: ignore[reportPrivateUsage]
    line = model.data(model.index(len(about) - 1, 0), ABOUT_ROLE)
    assert line.endswith(f"2.1 GB · in {folder}")
    assert line.startswith(store.family_title("sd1"))


def test_models_to_choose_are_searched_by_name_and_path(desk: Desk, tmp_path: Path) -> None:
    desk.session.checkpoints.add(tmp_path / "Dreams" / "dreamer.safetensors")
    form = desk.window.form
    refiners = RefinerItemModel(desk.session, form)
    refiners.offer(Path("another"), None)
    for model in (form.checkpoint.model, refiners):
        rows = ChoiceFilter(form)
        rows.setSourceModel(model)
        for words in ("dreamer", "dreams dreamer", str(tmp_path)):
            rows.search(words)
            assert [rows.index(row, 0).data() for row in range(rows.rowCount())] == ["dreamer"]


class Counted(CheckpointItemModel):
    """A list that counts how often its entries are read."""

    reads = 0

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        self.reads += 1
        return super().data(index, role)


def test_models_to_choose_are_searched_without_a_question_for_each(
    desk: Desk, tmp_path: Path
) -> None:
    desk.session.checkpoints.add(tmp_path / "dreamer.safetensors")
    counted, rows = Counted(desk.session, desk.window), ChoiceFilter(desk.window)
    rows.setSourceModel(counted)
    rows.search("dreamer")
    assert rows.rowCount() == 1
    assert counted.reads == 0


def test_every_family_to_choose_has_a_line_about_it(desk: Desk) -> None:
    desk.wait(lambda: bool(desk.session.checkpoints.families))
    assert all(family_about(desk.session, family) for family in FAMILIES.names)
    assert family_about(desk.session, "unheard of") == ""
