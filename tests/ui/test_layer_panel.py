"""The cards of control layers and image prompts: every control, the keyboard, what is missing."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QDragMoveEvent, QDropEvent, QShowEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.form.generation import Suggestions
from app.form.layer_list import LayerFate
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.features import ConcatChannels, Features, OptionalSetting
from engine.api.fields import fields_of
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from engine.api.preprocessors import (
    PREPROCESSORS,
    CannyOptions,
    ControlKind,
    DepthOptions,
    PreprocessorName,
    ReferenceOptions,
    TileOptions,
)
from tests.app.fake_engine import Plan
from tests.app.layers import ADAPTER, CANNY, CANNY_XL, DEPTH, ENCODER, MODELS, listed
from tests.app.test_lora_list import choose
from tests.ui.conftest import Desk, MakeDesk, desk_of_module
from tests.ui.test_accessibility import unnamed
from tests.ui.test_main_window import drag, drop
from ui.actions import ActionName
from ui.files.chooser import FileChooser
from ui.layer_labels import (
    blocks_words,
    combination_words,
    control_kind_name,
    file_title,
    map_option_words,
    mode_words,
    resize_words,
    scaling_words,
)
from ui.panels.control_card import ControlCard
from ui.panels.control_more import ControlMore
from ui.panels.image_prompt_card import ImagePromptCard
from ui.panels.strip_panel import picture_menu
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.choice_rows import ABOUT_ROLE

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def _one_desk(  # pyright: ignore[reportUnusedFunction]
    dark_theme: Theme, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """A window whose engine lists networks, and makes the same map of every picture."""
    drawn = tmp_path_factory.mktemp("map") / "map.png"
    Image.new("RGB", (64, 48), "white").save(drawn)
    with desk_of_module(request, dark_theme, Plan(models=MODELS, map=str(drawn))) as made:
        made.start()
        made.session.control_list.list_files()
        made.wait(lambda: made.session.control_list.is_listed)
        yield made


@pytest.fixture
def desk(_one_desk: Desk, theme: Theme, tmp_path: Path) -> Desk:
    """The window of all tests, as at first, and pictures of this test's own."""
    for name, colour in (("a", "red"), ("b", "green"), ("c", "blue")):
        Image.new("RGB", (64, 48), colour).save(tmp_path / f"{name}.png")
    _one_desk.put_back()
    choose(_one_desk, "sd1")
    return _one_desk


def picture(name: str = "a") -> str:
    return str(Path(os.environ["SAFELIGHT_STATE"]).parent / f"{name}.png")


def add(desk: Desk, *names: str) -> ControlCard:
    for name in names or ("a",):
        desk.session.control.add(picture(name))
    return card(desk)


def card(desk: Desk, at: int = 0) -> ControlCard:
    found = desk.window.form.controls.cards[at]
    assert isinstance(found, ControlCard)
    return found


def layer(desk: Desk, at: int = 0) -> ControlLayer:
    return desk.session.generation.controls[at]


def prompt_card(desk: Desk) -> ImagePromptCard:
    found = desk.window.form.image_prompts.cards[0]
    assert isinstance(found, ImagePromptCard)
    return found


def pick(box: ChoiceBox, text: str) -> None:
    at = box.findText(text)
    assert at >= 0, [box.itemText(row) for row in range(box.count())]
    box.setCurrentIndex(at)
    box.activated.emit(at)


def choosing(path: str) -> Callable[..., str]:
    def choose_file(*_: object) -> str:
        return path

    return choose_file


def test_cards_that_come_at_once_are_made_one_in_each_turn(desk: Desk) -> None:
    add(desk, "a", "b", "c")
    form, panel = desk.session.generation, desk.window.form.controls
    layers = tuple(
        msgspec.structs.replace(layer, weight=weight)
        for layer, weight in zip(form.controls, (0.25, 0.5, 0.75), strict=True)
    )
    form.controls = ()
    form.controls = layers
    assert len(panel.cards) == 1
    desk.wait(lambda: len(panel.cards) == 3)
    assert [card(desk, at).weight.field.value() for at in range(3)] == [0.25, 0.5, 0.75]


def test_a_card_has_its_texts_before_it_is_seen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once it was laid out empty, and then again with all around it.
    seen: list[str] = []

    def note(card: ControlCard, event: QShowEvent) -> None:
        seen.append(card.name.text())

    monkeypatch.setattr(ControlCard, "showEvent", note, raising=False)
    desk.session.generation.controls = (ControlLayer(image="/pictures/lines.png"),)
    desk.wait(lambda: bool(desk.window.form.controls.cards))
    assert seen
    assert all(seen)


def test_a_reference_needs_no_network_and_shows_its_style_fidelity(desk: Desk) -> None:
    control_card = add(desk)
    assert desk.session.control_list.rows[0].fate is LayerFate.UNCHOSEN
    pick(control_card.preprocessor, "Reference")
    assert layer(desk).preprocessor == ReferenceOptions()
    assert desk.session.control_list.rows[0].fate is LayerFate.APPLIED
    assert desk.session.generation.build_request().controls == (layer(desk),)
    hidden = (
        control_card.file,
        control_card.map,
        control_card.folded.map_kind,
        control_card.folded.area,
    )
    assert not any(part.isVisibleTo(control_card) for part in hidden)
    control_card.more.head.click()
    assert control_card.folded.options["style_fidelity"].isVisibleTo(control_card)
    pick(control_card.preprocessor, "Canny")
    assert control_card.file.isVisibleTo(control_card)
    assert desk.session.generation.build_request().controls == ()


def test_a_model_that_follows_a_map_itself_shows_no_weight_and_no_network(desk: Desk) -> None:
    features = Features(
        concat_channels=ConcatChannels.MAP,
        own_map=ControlKind.DEPTH,
        options=(OptionalSetting.CONTROLS,),
    )
    choose(desk, "sd1", features)
    control_card = add(desk)
    assert control_card.file.currentText() == "The model itself"
    assert control_card.preprocessor.itemData(1) == PreprocessorName.DEPTH_ANYTHING_V2
    control_card.more.head.click()
    hidden = (
        control_card.weight,
        control_card.range,
        control_card.folded.mode,
        control_card.folded.map_kind,
        control_card.folded.area,
        desk.window.form.controls.no_files,
    )
    assert not any(part.isVisibleTo(control_card) for part in hidden)
    assert control_card.folded.resize_mode.isVisibleTo(control_card)
    pick(control_card.file, file_title(CANNY))
    assert layer(desk).network == CANNY.path
    assert control_card.weight.isVisibleTo(control_card)
    pick(control_card.file, "The model itself")
    assert layer(desk).network is None


def images(desk: Desk) -> list[str]:
    return [Path(control.image).stem for control in desk.session.generation.controls]


def test_a_button_adds_a_picture_that_is_shown_beside_its_map(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = desk.window.form.controls
    assert panel.cards == []
    assert not panel.heading.isVisibleTo(desk.window)
    monkeypatch.setattr(FileChooser, "open_file", choosing(picture()))
    panel.add.click()
    control_card = card(desk)
    desk.wait(lambda: not control_card.picture.image.isNull())
    assert control_card.picture.image.pixelColor(5, 5).red() == 255
    # Without a preprocessor the picture is the map.
    desk.wait(lambda: control_card.map.image == control_card.picture.image)
    pick(control_card.file, "control_v11p_sd15_canny")
    assert layer(desk).preprocessor == CannyOptions()
    desk.wait(lambda: control_card.map.image.pixelColor(5, 5).green() == 255)
    assert control_card.map.words == ""


def test_a_picture_that_another_program_changed_is_shown_anew(desk: Desk) -> None:
    control_card = add(desk)
    prompted = picture("b")
    desk.session.image_prompt.add(prompted)
    frames = control_card.picture, control_card.map, prompt_card(desk).picture

    def colours() -> list[str]:
        images = [frame.image for frame in frames]
        return ["" if image.isNull() else image.pixelColor(5, 5).name() for image in images]

    desk.wait(lambda: colours() == ["#ff0000", "#ff0000", "#008000"])
    desk.wait(lambda: desk.session.edited.is_known(prompted))
    for name in ("a", "b"):
        Image.new("RGB", (80, 40), "blue").save(picture(name))
    desk.session.look_again()
    desk.wait(lambda: colours() == ["#0000ff"] * 3)


@pytest.mark.parametrize("suffix", [".gif", ".avif"])
def test_a_picture_of_another_format_is_chosen_and_dropped_as_png(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    blue, green = (tmp_path / f"{colour}{suffix}" for colour in ("blue", "green"))
    for path in (blue, green):
        Image.new("RGB", (64, 48), path.stem).save(path)
    monkeypatch.setattr(FileChooser, "open_file", choosing(str(blue)))
    panel = desk.window.form.controls
    panel.add.click()
    desk.wait(lambda: len(panel.cards) == 1)

    def is_shown(colour: str) -> bool:
        image = card(desk).picture.image
        return not image.isNull() and getattr(image.pixelColor(5, 5), colour)() > 100

    desk.wait(lambda: is_shown("blue"))
    assert Path(layer(desk).image).suffix == ".png"
    desk.resize(1200, 1400)
    desk.wait(lambda: desk.window.height() == 1400)
    let_go(desk, card(desk), over(desk, card(desk), green))
    desk.wait(lambda: is_shown("green"))


def test_networks_of_other_models_are_listed_last_with_the_reason(desk: Desk) -> None:
    box = add(desk).file
    texts = [box.itemText(at) for at in range(box.count()) if box.itemText(at)]
    names = [Path(network.name).name for network in (DEPTH, CANNY, CANNY_XL)]
    assert texts == ["None yet", *names, "page", "Choose a file…"]
    pick(box, "canny-xl")
    assert card(desk).reason.text() == "Left out: It is for sdxl; the model is sd1."
    assert card(desk).reason.isVisibleTo(desk.window)
    assert desk.session.generation.build_request().controls == ()


def test_a_network_in_a_folder_of_diffusers_has_the_folders_name() -> None:
    folder = listed("controlnet/controlnet-depth-sdxl/diffusion_pytorch_model.fp16")
    assert file_title(folder) == "controlnet-depth-sdxl"
    assert file_title(CANNY) == "control_v11p_sd15_canny"


def test_a_file_that_lies_elsewhere_is_chosen_in_a_dialog(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    box = add(desk).file
    monkeypatch.setattr(FileChooser, "open_file", choosing(""))
    pick(box, "Choose a file…")
    assert box.currentText() == "None yet"
    other = tmp_path / "other.safetensors"
    other.touch()
    monkeypatch.setattr(FileChooser, "open_file", choosing(str(other)))
    pick(box, "Choose a file…")
    assert box.currentText() == "other"
    assert [control.network for control in desk.session.generation.build_request().controls] == [
        str(other)
    ]


def test_files_of_one_name_are_told_apart_by_their_folders(make_desk: MakeDesk) -> None:
    twins = tuple(
        msgspec.structs.replace(CANNY, path=f"/{folder}/{CANNY.name}.safetensors", root=folder)
        for folder in ("one", "two")
    )
    desk = make_desk(Plan(models=(*twins, DEPTH))).start()
    desk.session.control_list.list_files()
    desk.wait(lambda: desk.session.control_list.is_listed)
    choose(desk, "sd1")
    box = add(desk).file
    abouts = [str(box.itemData(row, ABOUT_ROLE) or "") for row in range(box.count())]
    assert [text.split(" · ")[0] for text in abouts if text.startswith("in ")] == [
        "in /one/controlnet",
        "in /two/controlnet",
    ]


def test_a_file_of_another_kind_is_shown_as_what_is_used(desk: Desk) -> None:
    control_card = add(desk)
    desk.session.control.use_file(0, Path(ADAPTER.path))
    assert layer(desk).network == ADAPTER.path
    assert control_card.file.currentText() == "ip-adapter_sd15"


def test_preprocessors_that_serve_the_network_come_first(desk: Desk) -> None:
    control_card = add(desk)
    pick(control_card.file, "control_v11p_sd15_canny")
    box = control_card.preprocessor
    texts = [box.itemText(at) for at in range(box.count())]
    assert texts[:4] == ["None", "Canny", "Invert", ""]
    assert len([text for text in texts if text]) == 1 + len(PREPROCESSORS)
    pick(box, "Depth (Depth Anything V2)")
    assert layer(desk).preprocessor == DepthOptions()
    assert control_card.weights.isVisibleTo(desk.window)
    pick(box, "None")
    assert layer(desk).preprocessor is None
    assert not control_card.weights.isVisibleTo(desk.window)


def test_every_option_of_a_preprocessor_has_a_row_with_words_and_acts(desk: Desk) -> None:
    control_card = add(desk)
    for name, preprocessor in PREPROCESSORS.items():
        desk.session.control.change(0, preprocessor=preprocessor.options())
        fields = fields_of(preprocessor.options)
        assert list(control_card.folded.options) == list(fields), name
        without = [field.name for field in fields.values() if not all(map_option_words(field))]
        assert not without, f"options of {name} have their words in ui/layer_labels.py"
    desk.session.control.change(0, preprocessor=CannyOptions())
    control_card.more.open()
    low = control_card.folded.options["low"].control
    low.setFocus()
    QTest.keyClicks(low, "40")
    assert layer(desk).preprocessor == CannyOptions(low=40)
    desk.session.control.change(0, preprocessor=TileOptions(down_sampling_rate=2.0))
    assert list(control_card.folded.options) == ["down_sampling_rate"]


def test_a_map_is_as_large_as_the_picture_by_a_tick(desk: Desk) -> None:
    control_card = add(desk)
    desk.session.control.change(0, preprocessor=CannyOptions(resolution=768))
    control_card.more.open()
    assert control_card.folded.options["resolution"].isVisibleTo(control_card)
    control_card.folded.fitting.click()
    assert layer(desk).preprocessor == CannyOptions(resolution=None)
    assert not control_card.folded.options["resolution"].isVisibleTo(control_card)
    control_card.folded.fitting.click()
    assert layer(desk).preprocessor == CannyOptions()
    desk.session.control.change(0, preprocessor=TileOptions())
    assert not control_card.folded.fitting.isVisibleTo(control_card)


def test_weight_and_range_act_on_the_next_picture(desk: Desk) -> None:
    control_card = add(desk)
    pick(control_card.file, "control_v11p_sd15_canny")
    control_card.weight.slider.setValue(0.6)
    for handle, key in (
        (control_card.range.bar.start, Qt.Key.Key_Right),
        (control_card.range.bar.end, Qt.Key.Key_Left),
    ):
        handle.setFocus()
        QTest.keyClick(handle, key)
        QTest.keyClick(handle, key)
    used = desk.session.generation.build_request().controls[0]
    assert used.weight == 0.6
    assert used.range == pytest.approx((0.1, 0.9))
    assert control_card.range.words.text() == "10–90 %"  # noqa: RUF001
    # What is spoken is what is shown.
    handles = (control_card.range.bar.start, control_card.range.bar.end)
    spoken = map(QAccessible.queryAccessibleInterface, handles)
    assert [interface.text(QAccessible.Text.Value) for interface in spoken] == ["10 %", "90 %"]
    QTest.mouseDClick(control_card.range.bar, LEFT)
    QTest.mouseDClick(control_card.weight.slider, LEFT)
    assert (layer(desk).weight, layer(desk).range) == (1.0, (0.0, 1.0))


@pytest.mark.parametrize(
    "direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]
)
def test_the_handles_of_the_range_are_dragged_and_do_not_pass_each_other(
    desk: Desk, direction: Qt.LayoutDirection
) -> None:
    bar = add(desk).range.bar
    bar.setLayoutDirection(direction)
    is_mirrored = direction is Qt.LayoutDirection.RightToLeft
    assert (bar.start.x() > bar.end.x()) == is_mirrored

    def at(share: float) -> QPoint:
        x = 10 + (1 - share if is_mirrored else share) * (bar.width() - 20)
        return QPointF(x, bar.height() / 2).toPoint()

    desk.window.form.ensureWidgetVisible(bar)
    QTest.mousePress(bar, LEFT, pos=at(0.1))
    QTest.mouseMove(bar, at(0.3))
    QTest.mouseRelease(bar, LEFT, pos=at(0.3))
    assert layer(desk).range == pytest.approx((0.3, 1.0))
    QTest.mousePress(bar, LEFT, pos=at(0.9))
    QTest.mouseMove(bar, at(0.1))
    QTest.mouseRelease(bar, LEFT, pos=at(0.1))
    start, end = layer(desk).range
    assert start == end == pytest.approx(0.3)


def test_folded_rows_are_made_when_they_are_opened(desk: Desk) -> None:
    control_card = add(desk)
    desk.session.control.change(0, mode=ControlMode.CONTROL)
    assert not control_card.findChildren(ControlMore)
    control_card.more.head.click()
    (made,) = control_card.findChildren(ControlMore)
    assert made.isVisibleTo(control_card)
    assert made.mode.box.currentText() == mode_words(ControlMode.CONTROL)[0]
    assert control_card.more.head.nextInFocusChain() is made.controls[0]


def test_mode_shape_kind_and_area_are_chosen_and_told_while_folded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    control_card = add(desk)
    control_card.more.open()
    pick(control_card.folded.mode.box, mode_words(ControlMode.CONTROL)[0])
    pick(control_card.folded.resize_mode.box, resize_words(ControlResize.FILL)[0])
    pick(control_card.folded.map_kind.box, control_kind_name(ControlKind.DEPTH))
    monkeypatch.setattr(FileChooser, "open_file", choosing(picture("b")))
    control_card.folded.area.choose.click()
    now = layer(desk)
    assert (now.mode, now.resize, now.kind) == (
        ControlMode.CONTROL,
        ControlResize.FILL,
        ControlKind.DEPTH,
    )
    # A signal would make texts of them.
    assert type(now.mode) is ControlMode
    assert now.mask == picture("b")
    assert control_card.more.head.summary == "The map is more important, Fit, Depth"
    control_card.folded.area.drop.click()
    assert layer(desk).mask is None


def test_a_preprocessors_weights_are_chosen_and_dropped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    control_card = add(desk)
    desk.session.control.change(0, preprocessor=DepthOptions())
    monkeypatch.setattr(FileChooser, "open_file", choosing(str(tmp_path / "depth.pth")))
    control_card.weights.choose.click()
    assert layer(desk).preprocessor_weights == str(tmp_path / "depth.pth")
    assert control_card.weights.file.text() == "depth.pth"
    control_card.weights.drop.click()
    assert layer(desk).preprocessor_weights is None


def test_a_layer_is_switched_off_replaced_removed_and_put_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    control_card = add(desk)
    pick(control_card.file, "control_v11p_sd15_canny")
    control_card.enabled.click()
    assert desk.session.generation.build_request().controls == ()
    assert control_card.reason.text() == "Switched off."
    monkeypatch.setattr(FileChooser, "open_file", choosing(picture("b")))
    control_card.picture.click()
    assert images(desk) == ["b"]
    control_card.remove.click()
    assert desk.window.form.controls.cards == []
    undo = desk.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert images(desk) == ["b"]


def test_a_weight_begun_in_a_removed_card_does_not_reach_the_next(desk: Desk) -> None:
    add(desk, "a", "b")
    field = card(desk).weight.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "2")
    card(desk).remove.click()
    card(desk).remove.click()
    undo = desk.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    (left,) = desk.session.generation.controls
    assert (Path(left.image).stem, left.weight) == ("b", 1)


def test_cards_are_moved_by_keys_and_by_dragging_their_grips(desk: Desk) -> None:
    add(desk, "a", "b", "c")
    card(desk).grip.setFocus()
    QTest.keyClick(card(desk).grip, Qt.Key.Key_Down)
    assert images(desk) == ["b", "a", "c"]
    assert card(desk, 1).grip.hasFocus()
    QTest.keyClick(card(desk).grip, Qt.Key.Key_Up)
    assert images(desk) == ["b", "a", "c"]
    desk.resize(960, 2400)
    last, panel = card(desk, 2), desk.window.form.controls
    desk.wait(lambda: last.y() > card(desk, 1).geometry().bottom())
    desk.wait(lambda: desk.window.height() == 2400)
    below = last.mapToGlobal(QPoint(10, last.height() - 2))
    grip = card(desk).grip
    QTest.mousePress(grip, LEFT)
    QTest.mouseMove(grip, grip.mapFromGlobal(below))
    assert panel.mark.isVisibleTo(desk.window)
    assert panel.mark.y() > last.geometry().bottom()
    QTest.mouseRelease(grip, LEFT, pos=grip.mapFromGlobal(below))
    assert images(desk) == ["a", "c", "b"]
    assert not panel.mark.isVisibleTo(desk.window)


def test_a_missing_network_is_named_and_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    named = ControlLayer(image=picture(), network="control_v11p_sd15_openpose [cab727d4]")
    desk.session.generation.controls = (named,)
    control_card = card(desk)
    assert control_card.name.text() == "control_v11p_sd15_openpose"
    assert control_card.find_it.isVisibleTo(desk.window)
    monkeypatch.setattr(FileChooser, "open_file", choosing(CANNY.path))
    control_card.find_it.click()
    assert desk.session.control_list.rows[0].fate is LayerFate.APPLIED
    assert not control_card.find_it.isVisibleTo(desk.window)


def test_a_picture_and_a_map_that_cannot_be_made_are_told(make_desk: MakeDesk) -> None:
    # Such an engine makes no maps.
    desk = make_desk(Plan(models=MODELS))
    desk.start()
    desk.session.control.add("/nowhere.png")
    desk.session.control.change(0, preprocessor=CannyOptions())
    control_card = card(desk)
    desk.wait(lambda: control_card.picture.words != "")
    desk.wait(lambda: control_card.no_map.isVisibleTo(desk.window))
    assert control_card.no_map.text() == "Not available."
    assert not control_card.map.isEnabled()


def test_image_prompts_have_cards_with_every_field(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.image_prompt.add(picture())
    image_prompt = prompt_card(desk)
    assert image_prompt.file.currentText() == "ip-adapter_sd15"
    assert image_prompt.no_encoder.text() == ""
    image_prompt.weight.slider.setValue(0.5)
    image_prompt.range.bar.end.setValue(0.5)
    pick(image_prompt.blocks.box, blocks_words(AdapterBlocks.STYLE)[0])
    monkeypatch.setattr(FileChooser, "open_file", choosing(picture("b")))
    image_prompt.area.choose.click()
    pick(image_prompt.scaling.box, scaling_words(AdapterScaling.KEYS_AND_VALUES)[0])
    assert not image_prompt.combination.isVisibleTo(desk.window)
    image_prompt.further.choose.click()
    image_prompt.further.choose.click()
    assert image_prompt.further.file.text() == "b.png, b.png"
    pick(image_prompt.combination.box, combination_words(PictureCombination.AVERAGE)[0])
    pick(image_prompt.encoder, "vit-h")
    expected = ImagePrompt(
        image=picture(),
        adapter=ADAPTER.path,
        encoder=ENCODER.path,
        weight=0.5,
        range=(0.0, 0.5),
        blocks=AdapterBlocks.STYLE,
        scaling=AdapterScaling.KEYS_AND_VALUES,
        further=(picture("b"), picture("b")),
        combination=PictureCombination.AVERAGE,
        mask=picture("b"),
    )
    assert desk.session.generation.build_request().image_prompts == (expected,)
    pick(image_prompt.encoder, "Choose a file…")
    assert desk.session.generation.image_prompts[0].encoder == picture("b")
    # Only the suffix of a file of weights is left out of its name.
    assert image_prompt.encoder.currentText() == "b.png"
    pick(image_prompt.encoder, "The fitting one")
    image_prompt.area.drop.click()
    image_prompt.further.drop.click()
    assert desk.session.generation.image_prompts[0].further == ()
    assert desk.session.generation.image_prompts[0].mask is None
    assert desk.session.generation.image_prompts[0].encoder is None


def test_a_missing_vision_encoder_is_told_with_its_folder(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(models=(ADAPTER,)))
    desk.start()
    desk.session.image_prompt.add("/a.png")
    desk.wait(lambda: desk.session.image_prompt_list.is_listed)
    desk.wait(lambda: "clip_vision" in prompt_card(desk).no_encoder.text().replace("\u200b", ""))


def test_a_family_without_control_networks_does_not_offer_them(desk: Desk) -> None:
    form, panels = desk.window.form, (desk.window.form.controls, desk.window.form.image_prompts)
    plain = Suggestions(512, desk.session.generation.suggestions.settings, Features())
    desk.session.generation.suggestions = plain
    assert not any(panel.isVisibleTo(form) for panel in panels)
    # What is in the form is shown, and can be removed.
    add(desk)
    assert form.controls.isVisibleTo(form)


def test_every_control_of_the_cards_has_a_name_and_is_reached_by_tab(desk: Desk) -> None:
    control_card = add(desk)
    pick(control_card.file, "control_v11p_sd15_canny")
    control_card.more.open()
    desk.session.image_prompt.add(picture())
    assert unnamed(desk.window.form) == []
    for card in (control_card, prompt_card(desk)):
        order: list[QWidget] = []
        at: QWidget | None = card.controls[0]
        while at is not None and len(order) < 300:
            order.append(at)
            at = at.nextInFocusChain()
        wanted = [control for control in card.controls if control.isVisibleTo(card)]
        assert [control for control in order if control in wanted][: len(wanted)] == wanted


def test_a_dropped_picture_is_followed_or_is_a_prompt(desk: Desk, tmp_path: Path) -> None:
    form, file = desk.session.generation, tmp_path / "a.png"
    choose(desk, "sd1", Features())
    assert [offer.title for offer in desk.window.drops.offers(file)] == [
        "Use its settings",
        "Start from it",
    ]
    choose(desk, "sd1")
    for ours, count in ((False, 4), (True, 3)):
        assert len(desk.window.drops.offers(file, ours=ours)) == count
    drop(desk.window, drag(desk.window, file), 2)
    assert images(desk) == ["a"]
    drop(desk.window, drag(desk.window, file), 3)
    assert [image_prompt.image for image_prompt in form.image_prompts] == [str(file)]


def over(desk: Desk, widget: QWidget, file: Path) -> QMimeData:
    """Drag a file from elsewhere until the pointer is over a widget."""
    data = drag(desk.window, file)
    move = QDragMoveEvent(
        widget.mapTo(desk.window, widget.rect().center()),
        Qt.DropAction.CopyAction,
        data,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(desk.window, move)
    return data


def let_go(desk: Desk, widget: QWidget, data: QMimeData) -> None:
    place = QPointF(widget.mapTo(desk.window, widget.rect().center()))
    event = QDropEvent(place, Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(desk.window, event)


def test_a_picture_dropped_on_a_card_replaces_its_picture(desk: Desk, tmp_path: Path) -> None:
    control_card, marks = add(desk), desk.window.drops.marks
    desk.session.control.change(0, weight=0.4)
    desk.resize(1200, 1400)
    desk.wait(lambda: desk.window.height() == 1400)
    data = over(desk, control_card, tmp_path / "b.png")
    assert marks.words == "Replace the picture"
    # The form stays in sight; the cards of the window ask beside it.
    overlay = desk.window.drops.overlay
    form = desk.window.form
    assert overlay.clear.topLeft() == form.mapTo(desk.window, QPoint(0, 0))
    assert all(offer.x() > overlay.clear.right() for offer in overlay.cards)
    let_go(desk, control_card, data)
    assert not marks.isVisible()
    assert [
        (Path(control.image).stem, control.weight) for control in desk.session.generation.controls
    ] == [("b", 0.4)]
    assert desk.session.notices.notices[-1].undo is not None


def test_a_picture_dropped_on_a_button_of_the_form_is_added_there(
    desk: Desk, tmp_path: Path
) -> None:
    form = desk.window.form
    desk.resize(1200, 1400)
    desk.wait(lambda: desk.window.height() == 1400)
    for panel, name in ((form.controls, "a"), (form.image_prompts, "b")):
        let_go(desk, panel.add, over(desk, panel.add, tmp_path / f"{name}.png"))
    assert images(desk) == ["a"]
    assert [
        Path(image_prompt.image).stem for image_prompt in desk.session.generation.image_prompts
    ] == ["b"]
    let_go(desk, form.inputs.choose, over(desk, form.inputs.choose, tmp_path / "c.png"))
    desk.wait(lambda: bool(desk.session.generation.inputs))
    assert Path(desk.session.generation.inputs[0].path).stem == "c"


def test_the_form_becomes_as_wide_as_its_cards_need(desk: Desk) -> None:
    add(desk)
    control_card, form = card(desk), desk.window.form
    control_card.reason.setMinimumWidth(520)
    desk.wait(lambda: form.viewport().width() >= control_card.minimumSizeHint().width())
    desk.wait(
        lambda: (
            form.viewport().rect().right()
            >= control_card.mapTo(form.viewport(), control_card.rect().topRight()).x()
        )
    )


def test_a_file_of_weights_is_taken_by_no_place_of_the_form(desk: Desk, tmp_path: Path) -> None:
    control_card = add(desk)
    file = tmp_path / "a.safetensors"
    file.touch()
    over(desk, control_card, file)
    assert not desk.window.drops.marks.isVisible()
    assert desk.window.drops.overlay.clear.isEmpty()


def test_the_form_scrolls_while_a_card_is_dragged_to_its_edge(desk: Desk) -> None:
    add(desk, "a", "b", "c", "b")
    form, panel = desk.window.form, desk.window.form.controls
    desk.resize(960, 600)
    bar = form.verticalScrollBar()
    desk.wait(lambda: bar.maximum() > 0)
    form.ensureWidgetVisible(card(desk).grip)
    before, grip = bar.value(), card(desk).grip
    edge = form.viewport().mapToGlobal(QPoint(30, form.viewport().height() - 3))
    QTest.mousePress(grip, LEFT)
    QTest.mouseMove(grip, grip.mapFromGlobal(edge))
    desk.wait(lambda: bar.value() > before + 60)
    assert panel.mark.isVisibleTo(desk.window)
    QTest.keyClick(grip, Qt.Key.Key_Escape)
    assert not panel.mark.isVisibleTo(desk.window)
    QTest.mouseRelease(grip, LEFT)
    assert images(desk) == ["a", "b", "c", "b"]
    assert not form.scrolling.isActive()


def test_a_layer_without_a_picture_invites_to_choose_one_and_is_left_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.generation.controls = (ControlLayer(image="", network=CANNY.path),)
    control_card = card(desk)
    assert control_card.picture.words == "Choose a picture, or drop one here"
    assert control_card.map.words == ""
    assert control_card.reason.text() == "Without effect until a picture is chosen."
    assert desk.session.generation.build_request().controls == ()
    monkeypatch.setattr(FileChooser, "open_file", choosing(picture()))
    control_card.picture.click()
    assert [control.network for control in desk.session.generation.build_request().controls] == [
        CANNY.path
    ]


def test_a_network_that_is_used_elsewhere_is_seen_in_the_form(desk: Desk) -> None:
    desk.resize(960, 600)
    form = desk.window.form
    desk.session.model.use(CANNY)
    desk.wait(lambda: form.verticalScrollBar().value() > 0)
    place = card(desk).picture.mapTo(form.viewport(), QPoint(0, 0))
    assert form.viewport().rect().contains(place)


def test_a_model_without_networks_offers_no_layers_and_says_what_helps(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    control_card = add(desk)
    pick(control_card.file, "control_v11p_sd15_canny")
    assert not form.no_layers.isVisibleTo(form)
    choose(desk, "sd1", Features())
    assert form.no_layers.text() == (
        "This model follows no other pictures: for control layers and image prompts choose one of "
        "Stable Diffusion 1.5 or SDXL."
    )
    assert not form.image_prompts.isVisibleTo(form)
    assert not form.controls.add.isVisibleTo(form)
    # What is in the form waits for another model.
    assert card(desk).reason.text() == "Left out: there are no control networks for this model."
    assert state.build_request().controls == ()
    choose(desk, "sd1", Features(options=(OptionalSetting.CONTROLS,)))
    assert "There are no IP-Adapters for this model" in form.no_layers.text()
    assert [layer.network for layer in state.build_request().controls] == [CANNY.path]


def test_a_shown_picture_is_followed_or_is_a_prompt_by_its_menu(desk: Desk) -> None:
    desk.session.view.choose(picture("b"))
    actions = desk.window.actions_by_name
    menu = picture_menu(actions, desk.window)
    for name in (ActionName.FOLLOW, ActionName.PROMPT_BY):
        assert actions[name] in menu.actions()
        actions[name].trigger()
    assert images(desk) == ["b"]
    assert len(desk.session.generation.image_prompts) == 1


def test_every_preprocessor_has_a_title_and_a_sentence(desk: Desk) -> None:
    box = add(desk).preprocessor
    for name in PreprocessorName:
        at = box.findData(name)
        assert box.itemText(at)
