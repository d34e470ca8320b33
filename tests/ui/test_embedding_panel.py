"""The embeddings in the form: cards of those that prompts name, and a list to choose from."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from shiboken6 import isValid

from engine.api.embeddings import EmbeddingInfo
from engine.api.features import Features, TextLength
from engine.api.values import ConventionName
from tests.app.fake_engine import Plan
from tests.app.layers import say_family
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from ui.panels.embedding_panel import EmbeddingPanel

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

_TWO_ENCODERS = Features(
    texts=(
        TextLength(label="CLIP-L", tokens=75, key="clip_l", width=768),
        TextLength(label="OpenCLIP-G", tokens=75, key="clip_g", width=1280),
    )
)


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


@pytest.mark.parametrize(
    ("convention", "spelling", "reasons"),
    [
        # AUTOMATIC1111 takes what is for all text encoders and no others.
        (ConventionName.A1111, "{}", ("", "no", "no", "no")),
        # In ComfyUI each text encoder takes its own vectors.
        (ConventionName.COMFY, "embedding:{}", ("", "some", "some", "no")),
        # InvokeAI takes more than there are text encoders for, but not less.
        (ConventionName.INVOKE, "<{}>", ("", "no", "no", "no")),
    ],
)
def test_a_card_says_whether_it_acts_by_the_rules_of_the_tool(
    make_desk: MakeDesk, convention: ConventionName, spelling: str, reasons: tuple[str, ...]
) -> None:
    widths = {"both": (768, 1280), "first": (768,), "second": (1280,), "other": (1024,)}
    files = tuple(
        EmbeddingInfo(name=name, vectors=1, widths=wide, purpose="Stable Diffusion 1")
        for name, wide in widths.items()
    )
    desk = make_desk(Plan(loras=(), embeddings=files))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    desk.session.generation.convention = convention
    say_family(desk.session, "sdxl", _TWO_ENCODERS)
    desk.session.generation.prompt = ", ".join(map(spelling.format, widths))
    cards = panel(desk).cards
    desk.wait(lambda: all(card.about.text() for card in cards))
    said = {
        "": "",
        "no": "Has no effect: it is for Stable Diffusion 1, the model is another.",
        "some": "Only some of the text encoders take it: it is for Stable Diffusion 1.",
    }
    assert [card.reason.text() for card in cards] == [said[reason] for reason in reasons]


def test_an_embedding_for_more_text_encoders_acts_where_the_tool_takes_it(
    make_desk: MakeDesk,
) -> None:
    """InvokeAI takes one of SDXL with a model of SD 1, too, and AUTOMATIC1111 leaves it out."""
    files = (EmbeddingInfo(name="both", vectors=1, widths=(768, 1280), purpose="SDXL"),)
    desk = make_desk(Plan(loras=(), embeddings=files))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    say_family(desk.session, "sd1", Features(texts=_TWO_ENCODERS.texts[:1]))
    form = desk.session.generation
    for convention, spelling, acts in (
        (ConventionName.A1111, "both", False),
        (ConventionName.INVOKE, "<both>", True),
    ):
        form.convention, form.prompt = convention, spelling
        (card,) = panel(desk).cards
        desk.wait(lambda card=card: bool(card.about.text()))
        assert (card.reason.text() == "") is acts


def test_an_embedding_that_no_prompt_for_the_tool_can_name_is_not_written(
    make_desk: MakeDesk,
) -> None:
    """ComfyUI ends a name at a space: its first word alone would be looked for."""
    files = (EmbeddingInfo(name="easy negative", vectors=1, widths=(768,), purpose="SD 1"),)
    desk = make_desk(Plan(loras=(), embeddings=files))
    desk.start()
    desk.wait(lambda: desk.session.loras.is_listed)
    form = desk.session.generation
    form.prompt, form.convention = "a house", ConventionName.COMFY
    dialog = panel(desk).browse()
    desk.wait(lambda: "vector" in dialog.model.words("easy negative"))
    assert not dialog.use.isEnabled()
    assert "Prompts as in ComfyUI cannot have its name: rename the file." in dialog.about.text()
    dialog.toggle()
    assert form.prompt == "a house"
    form.convention = ConventionName.A1111
    dialog.toggle()
    assert form.prompt == "a house, easy negative"
    dialog.reject()


def test_an_embedding_goes_into_a_negative_prompt_only_where_there_is_one(desk: Desk) -> None:
    form = desk.session.generation
    form.prompt = "EasyNegative"
    (card,) = panel(desk).cards
    desk.wait(lambda: card.move_it.isVisibleTo(panel(desk)))
    say_family(desk.session, "flux", Features(negative_prompt=False))
    desk.wait(lambda: not form.sees_negative)
    assert not card.move_it.isVisibleTo(panel(desk))
    form.prompt, form.negative_prompt = "", "EasyNegative"
    (card,) = panel(desk).cards
    assert card.move_it.isVisibleTo(panel(desk)), "it can be brought back"


def test_a_list_that_was_closed_is_gone(desk: Desk) -> None:
    dialog = panel(desk).browse()
    dialog.close()
    desk.wait(lambda: not isValid(dialog))


def test_a_name_within_a_longer_one_is_a_name_of_its_own(make_desk: MakeDesk) -> None:
    files = tuple(EmbeddingInfo(name=name, vectors=1, widths=(768,)) for name in ("cat", "cat toy"))
    desk = make_desk(Plan(loras=(), embeddings=files)).start()
    desk.wait(lambda: desk.session.loras.is_listed)
    form, commands = desk.session.generation, desk.session.embedding
    form.prompt = "a cat toy"
    commands.add("cat", negative=False)
    assert form.prompt == "a cat toy, cat"
    commands.weigh("cat", 1.2, negative=False)
    assert form.prompt == "a cat toy, (cat:1.2)"
    commands.remove("cat", negative=False)
    assert form.prompt == "a cat toy"


def test_only_embeddings_that_act_are_offered_while_one_types(desk: Desk) -> None:
    prompt = desk.window.form.prompt
    prompt.setFocus()
    prompt.clear()
    QTest.keyClicks(prompt, "to")
    # The file is damaged, as is known once it was read.
    desk.wait(lambda: desk.session.embeddings.info("torn") is not None)
    assert prompt.names is not None
    assert not prompt.names.isVisible()
    say_family(desk.session, "sdxl", _TWO_ENCODERS)
    prompt.clear()
    QTest.keyClicks(prompt, "cat")
    desk.wait(lambda: desk.session.embeddings.info("cat-toy") is not None)
    assert not prompt.names.isVisible()
    say_family(desk.session, "sd15", Features())
    QTest.keyClicks(prompt, "-")
    assert [name.name for name in prompt.names.shown] == ["cat-toy"]
