"""Second passes in the form: every field, the sizes and the time, more than one."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.form.generation import Suggestions
from app.form.model_settings import ModelSettingsMemory
from app.queue.drawing import Drawing
from engine.api.features import Features
from engine.api.fields import fields_of
from engine.api.model_files import ModelKind
from engine.api.second_passes import MAX_SECOND_PASSES, LatentUpscaler, Resampling, SecondPass
from engine.api.values import ConventionName, SamplerName, ScheduleName
from tests.app.fake_engine import Plan
from tests.app.layers import EVERY_OPTION, listed, say_family
from tests.ui.conftest import Desk, desk_of_module
from tests.ui.test_accessibility import unnamed
from tests.ui.test_layer_panel import pick
from ui.files.chooser import FileChooser
from ui.labels import size_label
from ui.method_labels import method_name
from ui.panels.second_pass_card import SecondPassCard
from ui.second_pass_labels import upscaler_words
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.option_field import OptionField

UPSCALER = listed("upscale_models/4x-sharp", ModelKind.UPSCALER, families=())
DOUBLING = listed("ESRGAN/RealESRGAN_x2plus", ModelKind.UPSCALER, families=())
BROKEN_UPSCALER = listed("upscale_models/none", ModelKind.UPSCALER, problem="It is empty.")


@pytest.fixture(scope="module")
def _one_desk(dark_theme: Theme, request: pytest.FixtureRequest) -> Iterator[Desk]:  # pyright: ignore[reportUnusedFunction]
    models = UPSCALER, DOUBLING, BROKEN_UPSCALER
    plan = Plan(models=models, moved=(("ab" * 32, UPSCALER.path),))
    with desk_of_module(request, dark_theme, plan) as made:
        yield made.start()


@pytest.fixture
def desk(_one_desk: Desk, theme: Theme) -> Desk:
    """The window of all tests, as at first."""
    _one_desk.put_back()
    _one_desk.session.generation.width = _one_desk.session.generation.height = 512
    return _one_desk


def card(desk: Desk, at: int = 0) -> SecondPassCard:
    return desk.window.form.second_passes.cards[at]


def passes(desk: Desk) -> tuple[SecondPass, ...]:
    return desk.session.generation.build_request().second_passes


def choosing(path: str) -> Callable[..., str]:
    def choose_file(*_: object) -> str:
        return path

    return choose_file


def change(desk: Desk, **changes: Any) -> None:
    form = desk.session.generation
    desk.session.second_pass.change(0, msgspec.structs.replace(form.second_passes[0], **changes))


def type_number(card: SecondPassCard, name: str, text: str) -> None:
    row = card.steps if name == "steps" else card.folded.numbers[name]
    field = row.control
    assert isinstance(field, OptionField)
    field.setText(text)
    field.textEdited.emit(text)


def test_a_pass_is_added_removed_and_put_back(desk: Desk) -> None:
    panel = desk.window.form.second_passes
    assert passes(desk) == ()
    panel.add.click()
    assert passes(desk) == (SecondPass(),)
    card(desk).remove.click()
    assert passes(desk) == ()
    undo = desk.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert passes(desk) == (SecondPass(),)


def test_passes_wait_while_only_a_part_of_a_picture_is_painted(desk: Desk) -> None:
    """The engine refuses them then."""
    panel, form = desk.window.form.second_passes, desk.session.generation
    panel.add.click()
    form.start_from("/pictures/photo.png", 512, 512)
    assert passes(desk) == (SecondPass(),)
    assert not panel.left_out.isVisible()
    assert card(desk).result.isVisible()
    form.paint_within("/pictures/mask.png")
    assert passes(desk) == ()
    assert panel.left_out.isVisible()
    # It would say how large the picture becomes, and the time that it takes.
    assert not card(desk).result.isVisible()
    form.paint_within(None)
    assert passes(desk) == (SecondPass(),)
    form.grow((64, 0, 0, 0), 512, 512)
    assert passes(desk) == ()
    assert form.second_passes == (SecondPass(),)
    desk.session.changes.start_anew()
    assert passes(desk) == (SecondPass(),)
    assert not panel.left_out.isVisible()
    assert card(desk).result.isVisible()


def type_scale(desk: Desk, at: int, keys: str) -> None:
    """Type into the field of a pass's factor, and do not leave it."""
    field = card(desk, at).scale.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, keys)


def test_a_number_begun_in_a_removed_pass_is_given_up(desk: Desk) -> None:
    desk.window.form.second_passes.add.click()
    type_scale(desk, 0, "3")
    card(desk).remove.click()
    assert passes(desk) == ()


def test_a_number_begun_in_a_removed_pass_does_not_reach_the_next(desk: Desk) -> None:
    desk.session.generation.second_passes = (SecondPass(scale=1.5), SecondPass(scale=1.25))
    desk.wait(lambda: len(desk.window.form.second_passes.cards) == 2)
    type_scale(desk, 0, "3")
    card(desk, 0).remove.click()
    desk.window.form.prompt.setFocus()
    assert passes(desk) == (SecondPass(scale=1.25),)


def test_every_field_of_a_pass_has_a_control(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.window.form.second_passes.add.click()
    pass_card = card(desk)
    pass_card.scale.slider.setValue(1.5)
    pass_card.strength.slider.setValue(0.4)
    pick(pass_card.upscaler, "Lanczos")
    numbers: dict[str, Any] = {
        "steps": 12,
        "guidance": 5.5,
        "width": 768,
        "height": 1024,
        "tile": 512,
        "seed": 7,
    }
    for name, number in numbers.items():
        type_number(pass_card, name, str(number))
    pick(pass_card.folded.resampling.box, upscaler_words("area")[0])
    pick(pass_card.folded.sampler.box, method_name(SamplerName.EULER))
    pick(pass_card.folded.schedule.box, method_name(ScheduleName.KARRAS))
    monkeypatch.setattr(FileChooser, "open_file", choosing("/models/other.safetensors"))
    pick(pass_card.folded.checkpoint, "Choose a file…")
    assert pass_card.folded.checkpoint.currentText() == "other"
    pass_card.folded.prompt.setPlainText("sharp")
    pass_card.folded.negative.setPlainText("soft")
    expected = SecondPass(
        scale=1.5,
        strength=0.4,
        upscaler="lanczos",
        resampling=Resampling.AREA,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.KARRAS,
        checkpoint="/models/other.safetensors",
        prompt="sharp",
        negative_prompt="soft",
        **numbers,
    )
    assert passes(desk) == (expected,)
    changed = {
        name
        for name, field in fields_of(SecondPass).items()
        if getattr(expected, name) != field.default
    }
    # Digests are of files that were used; no person types them.
    assert changed == set(fields_of(SecondPass)) - {"checkpoint_digest", "upscaler_digest"}
    for name in numbers:
        type_number(pass_card, name, "")
    pick(pass_card.folded.checkpoint, "The same model")
    pass_card.folded.prompt.setPlainText("")
    pass_card.folded.negative.setPlainText("")
    assert passes(desk) == (
        SecondPass(
            scale=1.5,
            strength=0.4,
            upscaler="lanczos",
            resampling=Resampling.AREA,
            sampler=SamplerName.EULER,
            schedule=ScheduleName.KARRAS,
        ),
    )


def test_the_model_of_a_pass_is_chosen_from_the_list_of_models(desk: Desk) -> None:
    desk.paths.models.mkdir(parents=True, exist_ok=True)
    (desk.paths.models / "portrait.safetensors").write_bytes(b"weights")
    desk.window.form.second_passes.add.click()
    box = card(desk).folded.checkpoint
    desk.session.checkpoints.refresh()
    desk.wait(lambda: box.findText("portrait") >= 0)
    pick(box, "portrait")
    assert passes(desk)[0].checkpoint == str(desk.paths.models / "portrait.safetensors")
    assert card(desk).more.head.summary == "portrait"


def test_upscalers_are_the_latents_the_pictures_and_the_users_files(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.window.form.second_passes.add.click()
    box = card(desk).upscaler
    desk.wait(lambda: box.findText("4x-sharp") >= 0)
    texts = [box.itemText(at) for at in range(box.count()) if box.itemText(at)]
    latent = [upscaler.value for upscaler in LatentUpscaler]
    files = "RealESRGAN_x2plus", "4x-sharp"
    plain = "Lanczos", "Bicubic", "Bilinear", "Area", "Nearest"
    assert texts == [*latent, *plain, *files, "Choose a file…"]
    pick(box, "4x-sharp")
    assert passes(desk)[0].upscaler == UPSCALER.path
    monkeypatch.setattr(FileChooser, "open_file", choosing("/downloads/new.pth"))
    pick(box, "Choose a file…")
    assert passes(desk)[0].upscaler == "/downloads/new.pth"
    assert box.currentText() == "new"
    assert all(all(upscaler_words(upscaler)) for upscaler in (*latent, *Resampling))


def test_an_upscaler_that_another_tool_names_is_told_until_it_is_there(desk: Desk) -> None:
    desk.window.form.second_passes.add.click()
    desk.wait(lambda: desk.session.models.store.is_listed)
    change(desk, upscaler="R-ESRGAN 4x+")
    assert card(desk).lost.isVisibleTo(desk.window)
    assert card(desk).upscaler.currentText() == "R-ESRGAN 4x+"
    change(desk, upscaler="4x-Sharp")
    assert not card(desk).lost.isVisibleTo(desk.window)
    # AUTOMATIC1111's name for a file.
    change(desk, upscaler="R-ESRGAN 2x+")
    assert card(desk).upscaler.currentText() == "RealESRGAN_x2plus"
    assert not card(desk).lost.isVisibleTo(desk.window)
    change(desk, upscaler=BROKEN_UPSCALER.path)
    assert card(desk).lost.text() == "It is empty."


def test_a_moved_upscaler_is_found_and_a_missing_one_is_told(desk: Desk) -> None:
    before = "/before/4x.safetensors"
    desk.session.generation.second_passes = (
        SecondPass(upscaler=before, upscaler_digest="ab" * 32),
        SecondPass(upscaler=before, checkpoint="/before/paint.safetensors"),
    )
    desk.wait(lambda: len(desk.window.form.second_passes.cards) == 2)
    found, gone = card(desk), card(desk, 1)
    desk.wait(lambda: gone.lost.isVisibleTo(desk.window))
    desk.wait(lambda: found.upscaler.currentText() == "4x-sharp")
    assert not found.lost.isVisibleTo(desk.window)
    assert "4x.safetensors" in gone.lost.text().replace("\u200b", "")
    assert gone.lost_model.isVisibleTo(desk.window)
    # Another choice forgets what the file before contained.
    pick(found.upscaler, "Lanczos")
    assert passes(desk)[0].upscaler_digest is None


def test_sizes_follow_from_the_pass_before_and_are_told(desk: Desk) -> None:
    desk.window.form.second_passes.add.click()
    desk.window.form.second_passes.add.click()
    card(desk).scale.slider.setValue(1.5)
    assert "768 × 768" in card(desk).result.text()  # noqa: RUF001
    assert "1536 × 1536" in card(desk, 1).result.text()  # noqa: RUF001
    change(desk, width=640, height=512)
    # An exact size is no factor.
    assert card(desk).name.text() == f"To {size_label(640, 512)}"
    assert not card(desk).scale.isEnabled()
    desk.session.generation.width = 256
    assert "256 × 512" in card(desk).result.text()  # noqa: RUF001


def test_a_width_or_a_height_alone_keeps_the_shape(desk: Desk) -> None:
    desk.session.generation.height = 768
    desk.window.form.second_passes.add.click()
    pass_card = card(desk)
    type_number(pass_card, "width", "1024")
    assert pass_card.name.text() == f"To {size_label(1024, 1536)}"
    assert not pass_card.scale.isEnabled()
    type_number(pass_card, "width", "")
    assert pass_card.scale.isEnabled()
    type_number(pass_card, "height", "960")
    assert pass_card.name.text() == f"To {size_label(640, 960)}"
    assert passes(desk) == (SecondPass(height=960),)


def test_the_time_of_a_pass_is_told_where_it_is_known(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.window.form.second_passes.add.click()
    assert "more" not in card(desk).result.text()

    def seconds(_name: str, passes: Sequence[Drawing]) -> float:
        return sum(drawing.area * drawing.steps for drawing in passes) / 1e6

    monkeypatch.setattr(desk.session.pace, "seconds", seconds)
    change(desk, steps=10)
    # 1024 x 1024 pixels, of which A1111 takes all steps, and diffusers seven of ten.
    assert card(desk).result.text().endswith("About 10 s more.")
    desk.session.generation.convention = ConventionName.DIFFUSERS
    assert card(desk).result.text().endswith("About 7 s more.")


def test_a_full_form_takes_no_more_passes(desk: Desk) -> None:
    panel = desk.window.form.second_passes
    for _ in range(MAX_SECOND_PASSES):
        panel.add.click()
    assert len(panel.cards) == MAX_SECOND_PASSES
    assert not panel.add.isVisibleTo(desk.window)


def test_passes_belong_to_the_model_and_are_reset_with_its_settings(desk: Desk) -> None:
    desk.window.form.second_passes.add.click()
    model = desk.session.generation.checkpoint
    memory = desk.session.findChild(ModelSettingsMemory)
    assert memory is not None
    memory.note()
    assert getattr(memory.of(model), "second_passes") == (SecondPass(),)  # noqa: B009 (made at run time)
    desk.session.changes.reset()
    assert passes(desk) == ()


def test_a_family_without_second_passes_does_not_offer_them(desk: Desk) -> None:
    form = desk.window.form
    plain = Suggestions(512, desk.session.generation.suggestions.settings, Features())
    desk.session.generation.suggestions = plain
    assert not form.second_passes.isVisibleTo(form)


def test_passes_that_the_model_would_not_draw_are_left_out_and_told(desk: Desk) -> None:
    # As with a picture's settings for another model; the engine refuses them.
    panel, form = desk.window.form.second_passes, desk.session.generation
    panel.add.click()
    form.suggestions = Suggestions(512, form.suggestions.settings, Features())
    assert passes(desk) == ()
    assert panel.left_out.isVisible()
    assert not panel.add.isVisible()
    change(desk, checkpoint="/models/other.safetensors")
    assert passes(desk) == form.second_passes
    assert panel.left_out.isHidden()
    form.suggestions = Suggestions(512, form.suggestions.settings, EVERY_OPTION)
    change(desk, checkpoint=None)
    assert passes(desk) == (SecondPass(),)
    assert panel.add.isVisible()


def test_a_pass_has_a_method_that_works_with_the_model(desk: Desk) -> None:
    form = desk.session.generation
    given = SecondPass(sampler=SamplerName.UNIPC, schedule=ScheduleName.KARRAS)
    form.second_passes = (given, msgspec.structs.replace(given, checkpoint="/models/other.ckpt"))
    features = msgspec.structs.replace(
        EVERY_OPTION, samplers=(SamplerName.EULER,), schedules=(ScheduleName.KARRAS,)
    )
    form.suggestions = Suggestions(512, form.suggestions.settings, features)
    assert passes(desk) == (SecondPass(schedule=ScheduleName.KARRAS), form.second_passes[1])


def test_a_pass_has_a_method_that_works_with_a_model_of_its_own(desk: Desk) -> None:
    form = desk.session.generation
    given = SecondPass(
        sampler=SamplerName.UNIPC, schedule=ScheduleName.KARRAS, checkpoint="/models/other.ckpt"
    )
    form.second_passes = (given,)
    # The engine has not read it.
    assert passes(desk) == (given,)
    features = msgspec.structs.replace(EVERY_OPTION, schedules=(ScheduleName.NORMAL,))
    say_family(desk.session, "sdxl", features, Path("/models/other.ckpt"))
    assert passes(desk) == (msgspec.structs.replace(given, schedule=None),)


def methods(box: ChoiceBox) -> list[str]:
    return [box.itemText(at) for at in range(1, box.count())]


def test_only_methods_that_work_with_the_model_are_offered(desk: Desk) -> None:
    form = desk.session.generation
    euler, karras = SamplerName.EULER, ScheduleName.KARRAS
    few = msgspec.structs.replace(EVERY_OPTION, samplers=(euler,), schedules=(karras,))
    form.second_passes = (SecondPass(sampler=SamplerName.UNIPC),)
    folded = card(desk).folded
    assert len(methods(folded.sampler.box)) == len(SamplerName)
    form.suggestions = Suggestions(512, form.suggestions.settings, few)
    assert methods(folded.sampler.box) == [method_name(euler)]
    assert methods(folded.schedule.box) == [method_name(karras)]
    # The form keeps what the model lacks, for another one.
    assert folded.sampler.box.currentIndex() == 0
    assert card(desk).more.head.summary == ""
    pick(folded.sampler.box, method_name(euler))
    assert passes(desk) == (SecondPass(sampler=euler),)

    def of_another(path: str) -> Features:
        return msgspec.structs.replace(few, samplers=(SamplerName.HEUN,), schedules=None)

    form.features_of_file = of_another
    change(desk, checkpoint="/models/other.safetensors")
    assert methods(folded.sampler.box) == [method_name(SamplerName.HEUN)]
    assert len(methods(folded.schedule.box)) == len(ScheduleName)


def test_every_control_of_a_pass_has_a_name_and_is_reached_by_tab(desk: Desk) -> None:
    desk.window.form.second_passes.add.click()
    pass_card = card(desk)
    assert pass_card.more.present is None
    pass_card.more.open()
    assert unnamed(desk.window.form) == []
    order: list[QWidget] = []
    at: QWidget | None = pass_card.controls[0]
    while at is not None and len(order) < 300:
        order.append(at)
        at = at.nextInFocusChain()
    wanted = [control for control in pass_card.controls if control.isVisibleTo(pass_card)]
    assert [control for control in order if control in wanted][: len(wanted)] == wanted


def test_a_folded_heading_tells_what_differs(desk: Desk, tmp_path: Path) -> None:
    desk.window.form.second_passes.add.click()
    change(desk, checkpoint=str(tmp_path / "paint.ckpt"), prompt="x", tile=512)
    assert card(desk).more.head.summary == "paint, prompts of its own, in tiles"


def test_the_prompts_of_a_pass_are_helped_with_as_the_first_one_is(desk: Desk) -> None:
    store = desk.session.wildcards
    store.write("animal", "cat\n")
    desk.wait(lambda: store.names == ("animal",))
    desk.window.form.second_passes.add.click()
    section = card(desk).more
    section.open()
    assert section.present is not None
    for edit in (section.present.prompt, section.present.negative):
        edit.setFocus()
        QTest.keyClicks(edit, "a __an")
        assert edit.names is not None
        assert edit.names.isVisible()
        QTest.keyClick(edit, Qt.Key.Key_Tab)
        assert edit.toPlainText() == "a __animal__"
        QTest.keyClicks(edit, " house")
        QTest.keyClick(edit, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        assert edit.toPlainText() == "a __animal__ (house:1.1)"
    assert passes(desk)[0].prompt == "a __animal__ (house:1.1)"
