"""The advanced settings: a place for every setting, shown where it acts, folded otherwise."""

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QStyle, QStyleOptionComboBox, QWidget

from app.form.fields import CONTROLS, Extras
from app.form.generation import COMMON_SUGGESTIONS, Suggestions
from app.form.last_session import read_last_session
from app.form.options import FASTER_GUIDANCE, GROUPS, is_shown, option_field
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.features import Features, GuidanceKind, OptionalSetting, TextLength
from engine.api.fields import fields_of
from engine.api.lora import LoraMode
from engine.api.masks import MaskedContent
from engine.api.request import (
    ComponentFiles,
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    RefinerChoice,
    SamplerOptions,
    SizeOptions,
)
from engine.api.values import (
    InputRole,
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)
from tests.ui.conftest import Desk, MakeDesk
from ui.advanced_labels import options_summary
from ui.choice_labels import choice_about, choice_label
from ui.option_labels import option_about, option_name
from ui.panels.option_rows import OptionRow
from ui.widgets.option_field import OptionField, PairField
from ui.widgets.tick_box import TickBox

# Settings whose controls are not among the generated rows.
ELSEWHERE = {
    "guidance_options.image_guidance",  # beside the start picture
    "mask_options.expand",  # dragged on the canvas
}


# Fields of the form with a control of their own, not a generated row.
OF_THEIR_OWN = {
    *("prompt", "negative_prompt", "checkpoint", "width", "height", "steps", "guidance"),
    *("sampler", "schedule", "seed", "count", "convention", "inputs", "strength", "refiner"),
    *("loras", "components", "backend", "controls", "image_prompts", "second_passes"),
}


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, whose sections are folded."""
    advanced = kept_desk.window.form.advanced
    if advanced.section.present is not None:
        for section in (*advanced.rows.sections.values(), advanced.section):
            if section.is_open:
                section.head.click()
    return kept_desk


def row_of(desk: Desk, option: str) -> OptionRow:
    advanced = desk.window.form.advanced.rows
    folded = (section.whole for section in advanced.groups.values())
    groups = advanced.texts, *folded, advanced.machine.whole.options, desk.window.form.mask_rows
    return next(rows.rows[option] for rows in groups if option in rows.rows)


def control(desk: Desk, option: str) -> QWidget:
    return row_of(desk, option).control


def test_names_of_methods_are_not_cut_off(desk: Desk) -> None:
    # Once names of controls left so little room that "DPM++ 2M" was "DPM++ …".
    desk.unfold()
    desk.resize(1280, 800)
    method = desk.window.form.advanced.rows.method
    for box in (method.sampler, method.schedule, method.tool):
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box)
        desk.wait(lambda box=box: box.isVisible())
        assert box.fontMetrics().horizontalAdvance(box.currentText()) <= room.width()


def test_every_setting_of_a_request_has_a_control() -> None:
    without = set(fields_of(GenerateRequest)) - set(CONTROLS)
    # Hashes find files that the prompts name; the override is a declaration about the checkpoint.
    assert without == {*Extras.__struct_fields__, "override"}
    assert set(Extras.__struct_fields__) == {"lora_hashes", "embedding_hashes"}, (
        "a field of a request that people set has a Field and its Signal in app/form/fields.py"
    )


def test_every_option_of_a_group_has_a_row_with_words() -> None:
    placed = {option for options in GROUPS.values() for option in options}
    structures = {option.partition(".")[0] for option in placed if "." in option}
    every = {
        f"{name}.{inner}" for name in structures for inner in fields_of(option_structure(name))
    }
    assert every - placed == ELSEWHERE, "an option is in a group of GROUPS in app/form/options.py"
    for option in placed:
        assert option_name(option)
        assert option_about(option)
        assert option_field(option).name


def option_structure(name: str) -> type[msgspec.Struct]:
    structure = fields_of(GenerateRequest)[name].structure
    assert structure is not None
    return structure


def test_every_choice_has_a_name_and_a_sentence() -> None:
    kinds = MaskedContent, PrecisionName, WeightBits, TextWeightBits, LoraMode, Tiling, FreeUVersion
    for kind in kinds:
        assert all(map(choice_label, kind))
        assert all(map(choice_about, kind))
    automatic = {choice_about(kind.AUTO) for kind in (PrecisionName, WeightBits, LoraMode)}
    assert len(automatic) == 3


def test_every_control_of_the_form_is_one_of_its_widgets() -> None:
    generated = {option.partition(".")[0] for options in GROUPS.values() for option in options}
    assert set(CONTROLS) - generated == OF_THEIR_OWN, (
        "a control is a row by GROUPS in app/form/options.py, or made in ui/panels and named here"
    )


def test_the_advanced_settings_are_folded_until_they_are_opened_and_stay_open(
    make_desk: MakeDesk,
) -> None:
    desk = make_desk()
    advanced = desk.window.form.advanced
    assert advanced.section.present is None
    QTest.mouseClick(advanced.section.head, Qt.MouseButton.LeftButton)
    assert advanced.rows.steps.isVisible()
    desk.session.memory.close()
    last, _ = read_last_session(desk.paths.state)
    assert last is not None
    assert last.layout.sections == ("advanced",)


def test_an_inner_section_is_made_when_it_is_opened(make_desk: MakeDesk) -> None:
    desk = make_desk()
    section = desk.window.form.advanced.rows.machine
    assert section.present is None
    section.head.click()
    assert section.present is not None
    field = section.present.options.rows["memory_limit_bytes"].control
    assert field.isVisibleTo(section)


class ShownWindows(QObject):
    """Notes windows that are shown while it is the application's filter."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.found.append(type(watched).__name__)
        return False


def test_rows_that_are_shown_as_they_are_made_are_no_windows(
    make_desk: MakeDesk, qapp: QApplication
) -> None:
    desk = make_desk()
    desk.session.generation.refiner = RefinerChoice(checkpoint="/a.safetensors")
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    desk.unfold()
    qapp.removeEventFilter(shown)
    assert desk.window.form.advanced.rows.refiner.isVisible()
    assert shown.found == []


def test_sections_that_were_open_are_at_the_next_start_one_in_each_turn(
    make_desk: MakeDesk,
) -> None:
    kept = ("noise", "machine", "model")
    desk = make_desk()
    advanced = desk.window.form.advanced
    for name in kept:
        advanced.rows.sections[name].head.click()
    # The whole is folded, and what is in it stays open.
    advanced.section.head.click()
    advanced.section.head.click()
    desk.end()
    again = make_desk().window.form.advanced
    assert again.section.present is None
    again.section.head.click()
    opened = [0]
    sections = again.rows.sections
    for _ in range(100):
        QCoreApplication.processEvents()
        opened.append(sum(section.is_open for section in sections.values()))
        assert opened[-1] - opened[-2] <= 1
    assert {name for name, section in sections.items() if section.is_open} == set(kept)


def test_options_of_a_closed_section_stay_hidden_when_they_begin_to_act(desk: Desk) -> None:
    form, advanced = desk.session.generation, desk.window.form.advanced
    advanced.section.open()
    for sampler in (SamplerName.LMS, SamplerName.EULER_ANCESTRAL):
        form.sampler = sampler
    assert not row_of(desk, "sampler_options.eta").isVisible()
    advanced.rows.sections["method"].open()
    assert row_of(desk, "sampler_options.eta").isVisible()


def test_a_section_opens_by_the_keyboard(desk: Desk) -> None:
    head = desk.window.form.advanced.section.head
    head.setFocus()
    QTest.keyClick(head, Qt.Key.Key_Space)
    assert desk.window.form.advanced.rows.steps.isVisible()
    assert head.accessibleDescription() == "open"


def test_options_are_those_that_the_sampler_and_the_schedule_read(desk: Desk) -> None:
    form = desk.session.generation
    form.sampler, form.schedule = SamplerName.EULER, ScheduleName.KARRAS
    shown = {option for option in GROUPS_METHOD if is_shown(form, option)}
    assert shown == {
        "sampler_options.churn",
        "sampler_options.churn_from",
        "sampler_options.churn_to",
        "sampler_options.noise_scale",
        "schedule_options.sigma_min",
        "schedule_options.sigma_max",
        "schedule_options.rho",
    }
    form.sampler, form.schedule = SamplerName.LMS, ScheduleName.SIMPLE
    assert not desk.window.form.advanced.rows.sections["method"].isVisibleTo(desk.window.form)


GROUPS_METHOD = next(options for options in GROUPS.values() if "sampler_options.eta" in options)


def test_true_guidance_brings_the_negative_prompt_of_distilled_models(desk: Desk) -> None:
    form, panel = desk.session.generation, desk.window.form
    desk.unfold()
    both = Features(guidance=(GuidanceKind.EMBEDDED, GuidanceKind.CFG))
    form.suggestions = Suggestions(512, form.suggestions.settings, both)
    rescale = row_of(desk, "guidance_options.rescale")
    assert row_of(desk, "guidance_options.true_cfg").isVisible()
    assert not panel.negative_panel.isVisible()
    assert not rescale.isVisible()
    form.guidance_options = GuidanceOptions(true_cfg=2)
    assert panel.negative_panel.isVisible()
    assert rescale.isVisible()
    form.negative_prompt = "a blur"
    request = form.build_request()
    assert (request.negative_prompt, request.guidance_options.true_cfg) == ("a blur", 2)


def test_options_of_other_families_are_not_offered(desk: Desk) -> None:
    form, panel = desk.session.generation, desk.window.form.advanced.rows
    parts = panel.model.whole.parts
    desk.unfold()
    form.suggestions = Suggestions(
        512, form.suggestions.settings, Features(guidance=(GuidanceKind.EMBEDDED,))
    )
    for name in ("sizes", "guidance"):
        assert not panel.sections[name].isVisible()
    assert not panel.faster.isVisible()
    assert not row_of(desk, "clip_skip").isVisible()
    assert not parts.rows["text_encoder_2"].isVisible()
    both = (TextLength(label="L", tokens=75), TextLength(label="G", tokens=75))
    features = Features(deepest_clip_skip=12, options=tuple(OptionalSetting), texts=both)
    form.suggestions = Suggestions(512, form.suggestions.settings, features)
    for name in ("sizes", "guidance"):
        assert panel.sections[name].isVisible()
    assert row_of(desk, "clip_skip").isVisible()
    assert parts.rows["text_encoder_2"].isVisible()
    assert not parts.rows["text_encoder_3"].isVisible()
    three = Features(texts=(*both, TextLength(label="T5", tokens=256)))
    form.suggestions = Suggestions(512, form.suggestions.settings, three)
    assert parts.rows["text_encoder_3"].isVisible()


def test_a_typed_option_is_in_the_request_and_an_empty_one_is_the_default(desk: Desk) -> None:
    form = desk.session.generation
    form.sampler = SamplerName.EULER_ANCESTRAL
    desk.unfold()
    field = control(desk, "sampler_options.eta")
    assert isinstance(field, OptionField)
    field.setFocus()
    QTest.keyClicks(field, "0.5")
    assert form.build_request().sampler_options == SamplerOptions(eta=0.5)
    QTest.keyClicks(field, "x")
    assert form.sampler_options.eta == 0.5
    desk.window.form.prompt.setFocus()
    assert field.text() == "0.5"
    field.clear()
    field.textEdited.emit("")
    assert form.sampler_options.eta is None


def test_a_pair_counts_when_both_numbers_are_there(desk: Desk) -> None:
    form = desk.session.generation
    pair = control(desk, "seed_options.resize_from")
    assert isinstance(pair, PairField)
    QTest.keyClicks(pair.fields[0], "512")
    assert form.seed_options.resize_from is None
    assert pair.fields[0].text() == "512"
    QTest.keyClicks(pair.fields[1], "768")
    assert form.seed_options.resize_from == (512, 768)


def test_faster_guidance_is_one_switch(desk: Desk) -> None:
    form, faster = desk.session.generation, desk.window.form.advanced.rows.faster
    desk.unfold()
    desk.wait(lambda: faster.label.height() > 0)
    QTest.mouseClick(faster.label, Qt.MouseButton.LeftButton)
    assert form.build_request().guidance_options.range == FASTER_GUIDANCE
    QTest.mouseClick(faster.box, Qt.MouseButton.LeftButton)
    assert form.build_request().guidance_options.range == (0.0, 1.0)


def test_a_mask_brings_its_options(desk: Desk) -> None:
    form, rows = desk.session.generation, desk.window.form.mask_rows
    assert not rows.isVisible()
    form.inputs = tuple(InputImage(role=role, path="/p.png") for role in InputRole)
    assert rows.isVisible()
    assert not row_of(desk, "mask_options.padding").isVisible()
    box = control(desk, "mask_options.only_masked")
    assert isinstance(box, TickBox)
    box.click()
    assert form.build_request().mask_options.only_masked
    assert row_of(desk, "mask_options.padding").isVisible()


def test_the_memory_limit_is_in_gigabytes(desk: Desk) -> None:
    field = control(desk, "memory_limit_bytes")
    assert isinstance(field, OptionField)
    QTest.keyClicks(field, "4.5")
    assert desk.session.generation.memory_limit_bytes == 4_500_000_000


@pytest.mark.parametrize("precision", [PrecisionName.F16, PrecisionName.AUTO])
def test_settings_of_this_computer_stay_when_a_picture_is_reused(
    desk: Desk, precision: PrecisionName
) -> None:
    form = desk.session.generation
    form.precision, form.backend = precision, "cpu"
    form.load_request(GenerateRequest(prompt="", clip_skip=2))
    request = form.build_request()
    assert (request.precision, request.backend, request.clip_skip) == (precision, "cpu", 2)


def test_the_headings_are_told_once_for_a_change_and_not_for_a_letter(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[str]()
    panel, form = desk.window.form.advanced, desk.session.generation
    monkeypatch.setattr(panel.section.head, "tell", told.append)
    QTest.keyClicks(desk.window.form.prompt, "a boat")
    assert told == []
    with form.at_once():
        form.width, form.steps, form.clip_skip = 640, 12, 2
    assert len(told) == 1


def test_freeu_and_guidance_by_attention_are_offered_where_the_model_has_them(desk: Desk) -> None:
    form = desk.session.generation
    every = tuple(OptionalSetting)
    names = ("denoiser_options.tiling", "denoiser_options.freeu")
    names += ("guidance_options.pag_scale", "guidance_options.sag_scale")
    for options, expected in ((every, True), ((), False)):
        form.suggestions = msgspec.structs.replace(
            form.suggestions, features=Features(options=options)
        )
        assert all(is_shown(form, option) is expected for option in names)
    form.suggestions = msgspec.structs.replace(form.suggestions, features=Features(options=every))
    form.denoiser_options = DenoiserOptions(freeu=FreeUVersion.V2)
    assert is_shown(form, "denoiser_options.freeu_b1")


# Of a picture of another family.
OF_ANOTHER = GenerateRequest(
    prompt="",
    sampler=SamplerName.UNIPC,
    schedule=ScheduleName.KARRAS,
    clip_skip=2,
    denoiser_options=DenoiserOptions(tiling=Tiling.BOTH, freeu=FreeUVersion.V2, freeu_b1=1.1),
    guidance_options=GuidanceOptions(pag_scale=3, sag_scale=0.5, rescale=0.25),
    size_options=SizeOptions(crop=(8, 8)),
    vae_tile=512,
)
LACKED = (
    *("clip_skip", "vae_tile", "size_options.crop"),
    *("denoiser_options.tiling", "denoiser_options.freeu_b1"),
    *("guidance_options.pag_scale", "guidance_options.sag_threshold"),
)


def test_options_that_the_model_lacks_are_left_out_and_told(desk: Desk) -> None:
    """The engine refuses them."""
    form, advanced = desk.session.generation, desk.window.form.advanced
    flow = Features(samplers=(SamplerName.EULER,), schedules=(ScheduleName.SIMPLE,))
    form.suggestions = Suggestions(512, form.suggestions.settings, flow)
    assert not advanced.left_out.isVisible()
    form.load_request(OF_ANOTHER)
    sent = form.build_request()
    assert (sent.sampler, sent.schedule, sent.clip_skip, sent.vae_tile) == (None,) * 4
    assert sent.denoiser_options == DenoiserOptions()
    assert sent.guidance_options == GuidanceOptions(rescale=0.25)
    assert sent.size_options == SizeOptions()
    assert not any(is_shown(form, option) for option in LACKED)
    told = advanced.left_out.text()
    for name in ("UniPC", "Karras", "clip skip 2", "seamless", "FreeU", "VAE tiles", "sizes"):
        assert name in told
        assert name not in advanced.section.head.summary
    assert "rescaled" in advanced.section.head.summary
    desk.unfold()
    method = advanced.rows.method
    assert (method.sampler.currentIndex(), method.schedule.currentIndex()) == (0, 0)
    assert advanced.left_out.isVisible()


def test_options_wait_for_a_model_that_has_them(desk: Desk) -> None:
    form, advanced = desk.session.generation, desk.window.form.advanced
    form.load_request(OF_ANOTHER)
    names = ("sampler", "schedule", "clip_skip", "vae_tile")
    names += ("denoiser_options", "guidance_options", "size_options")
    every = Features(deepest_clip_skip=12, options=tuple(OptionalSetting))
    lacking = Suggestions(512, form.suggestions.settings, Features())
    # What was not read yet may have all of them.
    for known in (COMMON_SUGGESTIONS, msgspec.structs.replace(lacking, features=every)):
        form.suggestions = lacking
        form.suggestions = known
        sent = form.build_request()
        assert all(getattr(sent, name) == getattr(OF_ANOTHER, name) for name in names)
        assert advanced.left_out.isHidden()


def test_a_clip_skip_deeper_than_the_text_encoder_is_left_out(desk: Desk) -> None:
    form = desk.session.generation
    form.suggestions = Suggestions(
        512, form.suggestions.settings, Features(deepest_clip_skip=12, clip_skip=2)
    )
    for skip, expected in ((12, 12), (13, None), (1, 1)):
        form.clip_skip = skip
        assert form.build_request().clip_skip == expected


def test_perturbed_layers_are_typed_with_commas(desk: Desk) -> None:
    form, line = desk.session.generation, control(desk, "guidance_options.pag_layers")
    assert isinstance(line, QLineEdit)
    line.setText(" mid , up_blocks.0,")
    line.editingFinished.emit()
    assert form.guidance_options.pag_layers == ("mid", "up_blocks.0")
    line.setText("")
    line.editingFinished.emit()
    assert form.guidance_options.pag_layers == ("mid",)


def test_files_of_parts_are_named_with_the_part() -> None:
    files = ComponentFiles(vae="/models/ft-mse.safetensors", text_encoder_2="/models/g.safetensors")
    summary = options_summary(GenerateRequest(prompt="", components=files))
    assert summary == "second text encoder g.safetensors · VAE ft-mse.safetensors"
