"""Texts from outside are plain text in every widget, tooltip, menu and list of the window."""

import html
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app.commands.getting import Offer, Stage
from app.commands.updates import UpdateStage
from app.downloads.entries import Purpose
from app.downloads.links import read_link
from app.downloads.model_pages import OfferedFile, Page
from app.downloads.source import Source
from app.form.presets import PresetPart
from engine.api.checkpoints import FittingFile, Gap
from engine.api.lora_files import LoraInfo
from engine.api.model_messages import ModelsFound, ModelsListed
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo
from engine.metadata.png import TextChunk, insert_text_chunks
from tests.app.fake_engine import Plan
from tests.app.loras import lora
from tests.metadata.records import PNG
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.devices import device, right
from tests.ui.finished import finish
from tests.ui.packs import OPENVINO, UPDATE
from tests.ui.test_models_page import model
from tests.ui.test_wheel import DIALOGS, lacking
from ui.models.page import ModelsPage
from ui.places import Place
from ui.settings.devices_section import DevicesSection
from ui.theme.theme import Theme

# What is only in a report that a person copies.
UNSEEN = ["error_detail"]
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
# A sign that underlines the next letter, and is not seen itself.
_MNEMONIC = re.compile(r"(?<!&)&(?:&&)*zq")
_TOLD = tuple(
    Qt.ItemDataRole(role)
    for role in (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.AccessibleDescriptionRole,
    )
)


# The sources of texts that were brought so far.
_brought: set[str] = set()


def outside(source: str) -> str:
    """Return a text that no program should take for anything but text; a file may be called so."""
    _brought.add(source)
    return f"<img src=x><b>zq{source} &zq{source}\N{RIGHT-TO-LEFT OVERRIDE}gnp"


# --- what is shown ---


def is_markup(tooltip: str) -> bool:
    """Return True if Qt would take more of a tooltip for HTML than lines of text."""
    if not tooltip.startswith("<qt>"):
        return "<" in tooltip
    return "<" in tooltip.removeprefix("<qt>").removesuffix("</qt>").replace("<br>", "")


def keyed_texts(widget: QWidget) -> list[str]:
    """Return the texts in which & underlines a letter."""
    match widget:
        case QAbstractButton():
            return [widget.text()]
        case QGroupBox() | QMenu():
            return [widget.title()]
        case QTabBar():
            return [widget.tabText(tab) for tab in range(widget.count())]
        # A label without a buddy has none.
        case QLabel() if widget.buddy() is not None:  # pyright: ignore[reportUnnecessaryComparison]
            return [widget.text()]
        case _:
            return []


class Walk:
    """All that widgets show: `texts` of any kind, and `faults` in the way it is shown."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.faults: list[str] = []

    def look(self, *tops: QWidget) -> None:
        """Look at these widgets and all below them."""
        for top in tops:
            for widget in (top, *top.findChildren(QWidget)):
                self._look_at(widget)

    def _look_at(self, widget: QWidget) -> None:
        if isinstance(widget, QMenu):
            widget.aboutToShow.emit()
        self._tooltip(widget, widget.toolTip(), widget.whatsThis(), widget.statusTip())
        self.texts += (widget.accessibleName(), widget.accessibleDescription())
        for action in widget.actions():
            self._action(widget, action)
        for text in keyed_texts(widget):
            self._with_key(widget, text)
        if isinstance(widget, QComboBox | QAbstractItemView):
            self._rows(widget, widget.model())
        match widget:
            case QLabel():
                self._label(widget)
            case QProgressBar() | QLineEdit():
                self.texts.append(widget.text())
            case QPlainTextEdit():
                self.texts.append(widget.toPlainText())
            case QTextEdit():
                self._fault(widget, "can show rich text")
            case _:
                pass

    def _label(self, label: QLabel) -> None:
        self.texts.append(label.text())
        if label.text() and label.textFormat() is not Qt.TextFormat.PlainText:
            self._fault(label, f"guesses {label.text()[:80]!r}")

    def _action(self, widget: QWidget, action: QAction) -> None:
        self._with_key(widget, action.text())
        if not isinstance(widget, QMenu) or widget.toolTipsVisible():
            self._tooltip(widget, action.toolTip(), action.whatsThis(), action.statusTip())

    def _rows(self, widget: QWidget, rows: QAbstractItemModel | None) -> None:
        if rows is None:
            return
        for row in range(rows.rowCount()):
            told = [rows.index(row, 0).data(role) for role in _TOLD]
            self.texts += (text for text in told if isinstance(text, str))
            if isinstance(told[1], str):
                self._tooltip(widget, told[1])

    def _with_key(self, widget: QWidget, text: str) -> None:
        self.texts.append(text)
        if _MNEMONIC.search(text):
            self._fault(widget, f"underlines a letter of {text!r}")

    def _tooltip(self, widget: QWidget, *tips: str) -> None:
        for tip in tips:
            self.texts.append(html.unescape(tip))
            if is_markup(tip):
                self._fault(widget, f"tooltip {tip!r}")

    def _fault(self, widget: QWidget, what: str) -> None:
        self.faults.append(f"{type(widget).__name__} {widget.objectName()}: {what}")


def shown_sources(walk: Walk) -> set[str]:
    """The sources whose texts were seen anywhere."""
    # Long words have places where they may be broken.
    texts = (text.replace("\N{ZERO WIDTH SPACE}", "") for text in walk.texts)
    return {found for text in texts for found in re.findall(r"zq([a-z_]+)", text)}


def test_the_walk_sees_what_qt_would_guess(desk: Desk) -> None:
    walk, text = Walk(), outside("x")
    label, button, menu = QLabel(text), QAbstractButtonWith(text), QMenu()
    menu.addAction(text)
    for widget in (label, button, menu):
        widget.setParent(desk.window)
    label.setToolTip(text)
    walk.look(label, button, menu)
    assert len(walk.faults) == 4


class QAbstractButtonWith(QAbstractButton):
    """A button with a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setText(text)


# --- what comes from outside ---


def lora_from_outside() -> LoraInfo:
    return lora(
        outside("lora"),
        path=f"/loras/{outside('lora')}.safetensors",
        trigger_words=(outside("trigger"),),
    )


def bring_models(desk: Desk) -> None:
    found = model(
        outside("model"),
        path=f"/models/{outside('model')}.safetensors",
        title=outside("model_title"),
        trigger_words=(outside("model_word"),),
        missing=(outside("model_part"),),
    )
    broken = model("broken", families=(), problem=outside("model_problem"), hint=outside("hint"))
    store = desk.session.models.store
    store.refresh()
    query = store.listing.query
    assert query is not None
    desk.client.models_found.emit(ModelsFound(query=query, models=(found, broken)))
    desk.client.models_listed.emit(ModelsListed(query=query, folders=()))


def models_page(desk: Desk) -> ModelsPage:
    (page,) = desk.window.findChildren(ModelsPage)
    return page


def bring_an_offer(desk: Desk) -> None:
    link = read_link("https://civitai.com/models/1")
    assert link is not None
    files = tuple(
        OfferedFile(
            name=f"{outside('offered_file')}{number}.safetensors",
            url="https://civitai.com/x",
            size=2_000_000_000,
            sha256="ab" * 32,
        )
        for number in range(2)
    )
    page = Page(title=outside("offer"), files=files, licence=outside("offer_licence"))
    getting = desk.session.models.getting
    getting.offer, getting.stage = Offer(link, page, 0, (outside("host"),)), Stage.OFFERED
    getting.changed.emit()


def bring_a_download(desk: Desk, folder: Path) -> None:
    source = Source("http://127.0.0.1:1/a", (), "a.bin", 10, "0" * 64)
    added = desk.session.downloads.add(outside("download"), Purpose.MODEL, (source,), folder)
    desk.session.downloads.pause(added)


def bring_pictures(desk: Desk) -> None:
    folder = desk.paths.output
    folder.mkdir(exist_ok=True)
    text = (
        f"{outside('picture_prompt')}\nNegative prompt: <b>blurry\n"
        f"Steps: 5, Sampler: Euler, Size: 64x64, Model: {outside('picture_model')}"
    )
    chunks = [TextChunk("parameters", text)]
    path = folder / f"{outside('picture_name')}.png"
    path.write_bytes(insert_text_chunks(PNG, chunks))
    (folder / f"{outside('broken_name')}.png").write_bytes(b"")
    desk.session.output_pictures.refresh()
    desk.wait(lambda: len(desk.session.output_pictures) == 2)
    desk.window.places.open(Place.GALLERY)
    desk.wait(lambda: len(desk.session.gallery_index.folders) == 1)
    other = folder.with_name(outside("gallery_folder"))
    other.mkdir()
    desk.session.gallery_index.add_folder(other)


def bring_the_form(desk: Desk, folder: Path) -> None:
    session = desk.session
    session.generation.prompt = outside("form_prompt")
    session.generation.start_from(str(folder / f"{outside('start')}.png"), 64, 64)
    session.lora.add(lora_from_outside().path)
    session.presets.save(outside("preset"), list(PresetPart))
    session.earlier.history.add(outside("earlier"), outside("earlier_negative"))
    session.wildcards.write("list", outside("wildcard"))


def bring_the_queue(desk: Desk) -> None:
    desk.session.jobs_in_queue.pause(paused=True)
    request = GenerateRequest(prompt=outside("job"), checkpoint="/models/<b>x", seed=1)
    desk.queue.submit(request, desk.paths.output)


def bring_the_machine(desk: Desk) -> None:
    session = desk.session
    title, name = outside("backend"), outside("card")
    session.devices.choice = outside("choice")
    session.devices.devices = (
        device("nvidia_cuda", title, name, right("f16", 4.0)),
        device("cpu", "ONNX Runtime", "CPU", unusable=outside("unusable")),
    )
    session.updates.state.offer = msgspec.structs.replace(
        UPDATE, notes=outside("notes"), hosts=(outside("update_host"),)
    )
    session.updates.state.stage = UpdateStage.OFFERED


def bring_a_pack(desk: Desk) -> None:
    session = desk.session
    error = ErrorInfo(ErrorCode.INTERNAL, outside("pack_problem"), outside("pack_hint"))
    pack = msgspec.structs.replace(
        OPENVINO, title=outside("pack"), problem=error, gain_source=outside("pack_source")
    )
    # The machine's own packs, which are read once after the start, must not take the place of it.
    desk.wait(lambda: session.packs._shelf is not None)  # pyright: ignore[reportPrivateUsage]
    session.packs._shelf = None  # pyright: ignore[reportPrivateUsage]
    session.packs.rows = (pack,)
    session.packs.changed.emit()


def bring_notices(desk: Desk) -> None:
    told = (outside("error"), outside("error_hint"), outside("error_detail"))
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.INTERNAL, *told))
    desk.session.notices.tell(outside("note"), details=(outside("remark"), outside("remark")))


def walk_of(desk: Desk, theme: Theme) -> Walk:
    """Look at every place, in several states, and at every dialog."""
    walk = Walk()
    fits = (FittingFile(path=f"/models/{outside('fitting')}.safetensors"),)
    gap = Gap(component=outside("gap"), label="VAE", fits=fits)
    states: list[Callable[[], object]] = [
        desk.unfold,
        *(partial(desk.window.places.open, place) for place in Place),
        lambda: desk.window.form.checkpoint.gaps.show_gaps(lacking(gap)),
        *(partial(models_page(desk).show_view, view) for view in range(3)),
        lambda: bring_models(desk),
        lambda: models_page(desk).yours.broken.setChecked(True),
        lambda: bring_a_pack(desk),
        *(
            partial(desk.session.view.choose, picture.path)
            for picture in desk.session.output_pictures.snapshot
        ),
    ]
    for enter in states:
        enter()
        QApplication.processEvents()
        walk.look(desk.window)
    # What made a picture is read by another thread, and shown when that is done.
    looks = 0
    while "picture_model" not in shown_sources(walk) and (looks := looks + 1) < 200:
        QTest.qWait(20)
        for picture in desk.session.output_pictures.snapshot:
            desk.session.view.choose(picture.path)
            QTest.qWait(5)
            walk.look(desk.window)
    for make in DIALOGS.values():
        dialog = make(desk, theme)
        dialog.show()
        for section in dialog.findChildren(DevicesSection):
            section.all_shown.setChecked(True)
            finish(section)
        QApplication.processEvents()
        walk.look(dialog)
        dialog.reject()
    return walk


def test_texts_from_outside_are_plain_text_everywhere(
    make_desk: MakeDesk, theme: Theme, tmp_path: Path
) -> None:
    _brought.clear()
    desk = make_desk(Plan(loras=(lora_from_outside(),))).start()
    desk.wait(lambda: desk.session.loras.is_listed)
    folder = tmp_path / outside("folder")
    folder.mkdir()
    desk.session.open_file(folder / f"{outside('checkpoint')}.safetensors")
    bring_the_form(desk, folder)
    bring_pictures(desk)
    bring_the_queue(desk)
    desk.window.places.open(Place.MODELS)
    bring_an_offer(desk)
    bring_a_download(desk, tmp_path)
    bring_the_machine(desk)
    bring_notices(desk)
    walk = walk_of(desk, theme)
    assert walk.faults == []
    # The walk would prove nothing of a text that it never saw.
    assert sorted(_brought - shown_sources(walk)) == UNSEEN
