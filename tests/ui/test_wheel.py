"""The wheel scrolls: no control of any panel or dialog changes or takes the focus by it."""

import importlib
import pkgutil
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QScrollArea,
    QScrollBar,
    QWidget,
)

import ui.dialogs
from engine.api.checkpoints import CheckpointInfo, FittingFile, Gap
from tests.app.loras import INK
from tests.ui.conftest import Desk
from ui.dialogs.checkpoint_dialog import CheckpointDialog
from ui.dialogs.device_dialog import DeviceDialog
from ui.dialogs.downloads_dialog import DownloadsDialog
from ui.dialogs.embedding_dialog import EmbeddingDialog
from ui.dialogs.lora_dialog import LoraDialog
from ui.dialogs.lora_folders_dialog import LoraFoldersDialog
from ui.dialogs.messages_dialog import MessagesDialog
from ui.dialogs.preset_dialog import PresetDialog
from ui.dialogs.presets_dialog import PresetsDialog
from ui.dialogs.prompts_dialog import PromptsDialog
from ui.dialogs.runtimes_dialog import RuntimesDialog
from ui.dialogs.updates_dialog import UpdatesDialog
from ui.dialogs.wildcards_dialog import WildcardsDialog
from ui.files.dialog import FileDialog
from ui.files.kinds import FileQuestion, kinds_of
from ui.theme.theme import Theme

# What WheelFocus has beyond StrongFocus.
BY_WHEEL = Qt.FocusPolicy.WheelFocus.value & ~Qt.FocusPolicy.StrongFocus.value
NOTCH = QPoint(0, -120)


DIALOGS: dict[type[QDialog], Callable[[Desk, Theme], QDialog]] = {
    CheckpointDialog: lambda desk, theme: CheckpointDialog(desk.session, theme, desk.window),
    LoraDialog: lambda desk, theme: LoraDialog(
        desk.session, theme, desk.window.create_page.lora_pictures, desk.window
    ),
    EmbeddingDialog: lambda desk, theme: EmbeddingDialog(
        desk.session, theme, desk.window.create_page.lora_pictures, desk.window
    ),
    LoraFoldersDialog: lambda desk, _theme: LoraFoldersDialog(desk.session, desk.window),
    DeviceDialog: lambda desk, _theme: DeviceDialog(
        desk.session, desk.window, desk.window.windows.show_runtimes
    ),
    RuntimesDialog: lambda desk, theme: RuntimesDialog(
        desk.session, theme, desk.window, desk.window.windows.show_devices
    ),
    DownloadsDialog: lambda desk, theme: DownloadsDialog(
        desk.session.downloads, theme, desk.window
    ),
    MessagesDialog: lambda desk, _theme: MessagesDialog(desk.session.notices, desk.window),
    PresetDialog: lambda desk, _theme: PresetDialog(desk.session, desk.window),
    PresetsDialog: lambda desk, _theme: PresetsDialog(desk.session, desk.window),
    PromptsDialog: lambda desk, theme: PromptsDialog(desk.session, theme, desk.window),
    UpdatesDialog: lambda desk, _theme: UpdatesDialog(desk.session.updates, desk.window),
    WildcardsDialog: lambda desk, theme: WildcardsDialog(desk.session, theme, desk.window),
    FileDialog: lambda desk, theme: FileDialog(
        theme, FileQuestion.FILE, kinds_of("Models (*.gguf);;All files (*)"), desk.window
    ),
}


def test_every_dialog_is_looked_at() -> None:
    for module in pkgutil.iter_modules(ui.dialogs.__path__, "ui.dialogs."):
        importlib.import_module(module.name)
    ours = {kind for kind in QDialog.__subclasses__() if kind.__module__.startswith("ui.")}
    assert ours == set(DIALOGS)


def fill(desk: Desk, theme: Theme) -> None:
    """Bring what is not always there: missing parts, start pictures, LoRAs with all controls."""
    form = desk.window.form
    gap = Gap(component="vae", label="VAE", fits=(FittingFile(path="/a.safetensors"),))
    form.checkpoint.gaps.show_gaps(lacking(gap))
    desk.unfold()
    desk.session.lora.add(INK.path)
    desk.session.lora.change(0, text_strength=0.5)
    desk.session.generation.start_from("/a.png", 64, 64)
    desk.session.view.painting = True
    advanced = form.advanced.rows
    for row in (
        form.inputs.card,
        form.inputs.sliders,
        advanced.refiner,
        advanced.refiner.switch,
    ):
        row.show()
    QApplication.processEvents()


def lacking(gap: Gap) -> CheckpointInfo:
    return CheckpointInfo(
        path="/a",
        family="sd1",
        variant="base",
        prediction="epsilon",
        default_size=512,
        components=(),
        missing=("vae",),
        evidence=(),
        ignored_keys=0,
        digest="",
        gaps=(gap,),
    )


def controls(top: QWidget) -> list[QWidget]:
    kinds = (QComboBox, QAbstractSpinBox, QAbstractSlider)
    return [
        widget
        for widget in top.findChildren(QWidget)
        if isinstance(widget, kinds) and not isinstance(widget, QScrollBar)
    ]


def value(control: QWidget) -> object:
    if isinstance(control, QComboBox):
        return control.currentIndex()
    if isinstance(control, QAbstractSlider):
        return control.value()
    assert isinstance(control, QAbstractSpinBox)
    return control.text()


def test_no_widget_takes_the_focus_by_the_wheel(desk: Desk, theme: Theme) -> None:
    fill(desk, theme)
    tops = [desk.window, *(make(desk, theme) for make in DIALOGS.values())]
    greedy = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for top in tops
        for widget in (top, *top.findChildren(QWidget))
        if widget.focusPolicy().value & BY_WHEEL
    ]
    assert greedy == []


def test_turning_the_wheel_over_any_control_changes_nothing(desk: Desk, theme: Theme) -> None:
    fill(desk, theme)
    window, form = desk.window, desk.window.form
    found = [control for control in controls(window) if control.isVisible()]
    assert len(found) > 15
    for control in found:
        turn_over(window, control, form)


# Nothing off the screen asks a window for its size.
@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("kind", DIALOGS)
def test_turning_the_wheel_in_a_dialog_changes_nothing(
    shared_desk: Desk, theme: Theme, kind: type[QDialog]
) -> None:
    dialog = DIALOGS[kind](shared_desk, theme)
    dialog.show()
    shared_desk.wait(dialog.isActiveWindow)
    for control in controls(dialog):
        turn_over(dialog, control, None)
    dialog.reject()


def turn_over(top: QWidget, control: QWidget, form: QScrollArea | None) -> None:
    """A notch over the control, while another has the focus and while it has it itself."""
    other = next(widget for widget in top.findChildren(QWidget) if widget.focusPolicy().value)
    handle = top.windowHandle()
    for focused in (other, control):
        focused.setFocus()
        if form is not None:
            form.ensureWidgetVisible(control)
        before, had = value(control), QApplication.focusWidget()
        place = control.mapTo(top, control.rect().center())
        QTest.wheelEvent(handle, QPointF(place), NOTCH)
        QTest.wheelEvent(handle, QPointF(place), -NOTCH)
        QTest.wheelEvent(handle, QPointF(place), -NOTCH)
        assert value(control) == before, control
        assert QApplication.focusWidget() is had, control


@pytest.mark.parametrize("kind", DIALOGS)
def test_a_dialog_fits_a_small_screen(
    shared_desk: Desk, theme: Theme, kind: type[QDialog], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = QSize(640, 330)

    def room(_: object) -> QSize:
        return small

    monkeypatch.setattr(f"{kind.__module__}.room_for", room)
    dialog = DIALOGS[kind](shared_desk, theme)
    assert dialog.size().boundedTo(small) == dialog.size()
    dialog.close()
