"""The embeddings in the form: cards of those that prompts name, and a list to choose from."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.api.embeddings import EmbeddingInfo
from engine.api.values import ConventionName
from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from ui.panels.embedding_panel import EmbeddingPanel

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def desk(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """A window whose engine lists a few embeddings."""
    picture = tmp_path / "EasyNegative.png"
    Image.new("RGB", (8, 8), "red").save(picture)
    files = (
        EmbeddingInfo(
            name="EasyNegative",
            path=str(tmp_path / "EasyNegative.safetensors"),
            vectors=8,
            widths=(768,),
            purpose="Stable Diffusion 1",
            preview=str(picture),
            preview_modified_ns=1,
        ),
        EmbeddingInfo(name="cat-toy", vectors=1, widths=(768,), purpose="Stable Diffusion 1"),
        EmbeddingInfo(name="torn", problem="torn.pt is damaged."),
    )
    made = make_desk(Plan(loras=(), embeddings=files))
    made.start()
    made.wait(lambda: made.session.loras.is_listed)
    made.session.generation.prompt = "a house"
    made.session.generation.negative_prompt = ""
    return made


def panel(desk: Desk) -> EmbeddingPanel:
    return desk.window.form.embeddings


def test_a_name_in_the_prompt_is_a_card_with_its_facts(desk: Desk) -> None:
    assert panel(desk).cards == []
    form = desk.session.generation
    form.prompt = "a house, (EasyNegative:1.3)"
    (row,) = panel(desk).cards
    desk.wait(lambda: row.about.text() != "")
    assert row.name.text() == "EasyNegative"
    assert row.about.text() == "Stable Diffusion 1 · 8 vectors"
    assert row.strength.field.value() == 1.3
    assert unnamed(panel(desk)) == []
    form.prompt = "a house"
    assert panel(desk).cards == []


def test_the_strength_of_a_card_is_the_weight_in_the_text(desk: Desk) -> None:
    form = desk.session.generation
    form.prompt = "EasyNegative, a house"
    (row,) = panel(desk).cards
    row.strength.slider.setValue(0.6)
    assert form.prompt == "(EasyNegative:0.6), a house"
    row.strength.slider.setValue(1.0)
    assert form.prompt == "EasyNegative, a house"
    form.convention = ConventionName.DIFFUSERS
    form.prompt = "<EasyNegative>"
    (row,) = panel(desk).cards
    assert not row.strength.isVisibleTo(desk.window)


def test_a_card_moves_between_the_prompts_and_its_removal_is_undone(desk: Desk) -> None:
    form = desk.session.generation
    form.prompt = "a house, (EasyNegative:0.8)"
    panel(desk).cards[0].move_it.click()
    assert (form.prompt, form.negative_prompt) == ("a house", "(EasyNegative:0.8)")
    panel(desk).cards[0].remove.click()
    assert form.negative_prompt == ""
    notice = desk.session.notices.notices[-1]
    assert notice.undo is not None
    notice.undo()
    assert form.negative_prompt == "(EasyNegative:0.8)"


def test_the_list_writes_names_in_the_spelling_of_the_tool(desk: Desk) -> None:
    form = desk.session.generation
    form.convention = ConventionName.COMFY
    dialog = panel(desk).browse()
    desk.wait(lambda: "vector" in dialog.model.words("cat-toy"))
    assert dialog.model.rowCount() == 3
    dialog.search.setText("cat")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    dialog.search.setText("easy")
    dialog.avoid.click()
    assert form.prompt == "a house, embedding:cat-toy"
    assert form.negative_prompt == "embedding:EasyNegative"
    assert dialog.avoid.text() == "Out of the negative"
    dialog.search.setText("torn")
    assert not dialog.use.isEnabled()
    assert "torn.pt is damaged." in dialog.about.text()
    dialog.reject()


def test_a_slip_is_corrected_by_a_click(make_desk: MakeDesk) -> None:
    files = (EmbeddingInfo(name="EasyNegative", widths=(768,)),)
    desk = make_desk(Plan(loras=(), embeddings=files, reads_prompts=True))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    desk.session.generation.prompt = "a house, easynegtive"
    found = desk.window.form.prompt_panel
    desk.wait(lambda: found.correct.isVisibleTo(desk.window))
    assert found.hint.text() == "Did you mean the embedding “EasyNegative”?"
    found.correct.click()
    assert desk.session.generation.prompt == "a house, EasyNegative"
