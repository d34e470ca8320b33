"""The popup that makes pictures larger: the upscaler, the size, and what that takes."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.notices.wording import worded_both
from app.paths import nearest_folder
from app.session import Session
from engine.api.upscaling import Resampling, UpscaleOutlook, UpscaleRequest
from engine.api.values import ErrorInfo
from engine.api.weight_suffixes import weights_name
from ui.files.chooser import FileChooser
from ui.files.kinds import UPSCALER_PATTERNS
from ui.job_labels import resampling_about, upscaler_name
from ui.labels import duration, file_size, size_label
from ui.model_labels import upscaler_about
from ui.theme.metrics import XS, L, M, S
from ui.theme.theme import Theme
from ui.upscale_sizes import SizeChoice, UpscaleSize
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.filled_button import FilledButton
from ui.widgets.labels import buddy_label, plain_label

_WIDTH = 400
# The entry that opens a dialog: no upscaler has this name.
_CHOOSE = "\0"


class UpscalePopup(QFrame):
    """The popup over a page; it closes when a click beside it, Esc or a button ends it."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._session, self._commands = session, session.upscales
        self._sources: tuple[str, ...] = ()
        # The upscaler that was chosen in this popup; the list of them may still be on its way.
        self._wanted = ""
        # The file that was chosen elsewhere, which is in no list.
        self._elsewhere = ""
        self._anchor = QRect()
        self._requests: tuple[UpscaleRequest, ...] = ()
        self.setProperty("role", "choices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(self.tr("Upscale"))
        self.setFixedWidth(_WIDTH)
        self.title = plain_label(self.tr("Upscale"), "heading")
        self.pictures = plain_label("", "caption", wrap=True)
        self.upscaler = ChoiceBox(theme)
        self.upscaler.setAccessibleName(self.tr("Upscale with"))
        self.about = plain_label("", "note", wrap=True)
        self.sizes = SizeChoice(theme)
        self.result = plain_label("", wrap=True)
        self.cost = plain_label("", "caption", wrap=True)
        self.refusal = plain_label("", "error", wrap=True)
        self.start = FilledButton(self.tr("Upscale"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self._lay_out()
        self._connect()
        theme.dress(self)

    def open_for(self, sources: Sequence[str], anchor: QRect) -> None:
        """Show the popup for pictures by their paths, beside a place on the screen."""
        self._sources = tuple(sources)
        if not self._sources:
            return
        self.pictures.setText(self._names())
        self._commands.look()
        self._list_upscalers()
        self._ask()
        self._anchor = anchor
        self._place()
        self.show()
        self.upscaler.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Start with Enter, close with Esc."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.start.click()
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.start)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, M, L, M)
        column.setSpacing(XS)
        column.addWidget(self.title)
        column.addWidget(self.pictures)
        column.addSpacing(S)
        column.addWidget(buddy_label(self.tr("With"), self.upscaler))
        column.addWidget(self.upscaler)
        column.addWidget(self.about)
        column.addSpacing(S)
        column.addWidget(buddy_label(self.tr("Size"), self.sizes.kinds))
        column.addWidget(self.sizes)
        column.addSpacing(S)
        for label in (self.result, self.cost, self.refusal):
            column.addWidget(label)
        column.addSpacing(S)
        column.addLayout(buttons)
        self.upscaler.setAccessibleName(self.tr("With"))

    def _connect(self) -> None:
        self.upscaler.currentIndexChanged.connect(self._on_upscaler)
        self.sizes.changed.connect(self._ask)
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self.close)
        self._commands.changed.connect(self._on_changed)

    def _list_upscalers(self) -> None:
        """Fill the box with the user's files and the methods; keep what was chosen."""
        chosen = self._wanted or self._commands.latest
        self.upscaler.blockSignals(True)
        self.upscaler.clear()
        for model in self._commands.upscalers:
            self.upscaler.add_choice(weights_name(model.path), model.path, upscaler_about(model))
        for method in Resampling:
            self.upscaler.add_choice(upscaler_name(method), method.value, resampling_about(method))
        if chosen and self.upscaler.findData(chosen) < 0:
            self._elsewhere = chosen
        if self._elsewhere and self.upscaler.findData(self._elsewhere) < 0:
            self.upscaler.add_choice(
                weights_name(self._elsewhere), self._elsewhere, self._place_words
            )
        self.upscaler.add_choice(self.tr("Choose a file…"), _CHOOSE, "")
        index = self.upscaler.findData(chosen) if chosen else -1
        self.upscaler.setCurrentIndex(max(index, 0))
        self.upscaler.blockSignals(False)
        self._tell_upscaler()

    def _on_upscaler(self) -> None:
        if self.upscaler.currentData() == _CHOOSE:
            # Once the list of choices is closed: a dialog beside it would not get the mouse.
            QTimer.singleShot(0, self, self._choose_file)
            return
        self._wanted = str(self.upscaler.currentData() or "")
        self._tell_upscaler()
        self._ask()

    @property
    def _place_words(self) -> str:
        """The place of the file that was chosen elsewhere."""
        return self.tr("In the folder {folder}").format(folder=Path(self._elsewhere).parent)

    def _choose_file(self) -> None:
        """Ask for an upscaler's file; the popup is closed meanwhile, as it would lie over all."""
        self.close()
        before = nearest_folder(Path(self._elsewhere or self._session.checkpoints.models))
        kinds = self.tr("Upscalers ({endings});;All files (*)").format(endings=UPSCALER_PATTERNS)
        title = self.tr("The file of an upscaler")
        file = FileChooser.open_file(self.parentWidget(), title, before, kinds)
        self._wanted = file or self._wanted
        self.open_for(self._sources, self._anchor)

    def _tell_upscaler(self) -> None:
        wanted = str(self.upscaler.currentData() or "")
        model = next(
            (upscaler for upscaler in self._commands.upscalers if upscaler.path == wanted), None
        )
        if model is not None:
            self.about.setText(upscaler_about(model))
        elif wanted and wanted == self._elsewhere:
            self.about.setText(self._place_words)
        elif self._commands.is_listing:
            self.about.setText(self.tr("Looking for upscalers in your folders of models…"))
        elif not self._commands.upscalers:
            self.about.setText(
                self.tr("Put the file of an upscaler, such as RealESRGAN, into a folder of models.")
            )
        else:
            self.about.setText("")
        self.about.setVisible(bool(self.about.text()))

    def _ask(self) -> None:
        """Ask what the present choice takes."""
        size: UpscaleSize = self.sizes.value
        upscaler = str(self.upscaler.currentData() or Resampling.LANCZOS.value)
        self._requests = tuple(
            UpscaleRequest(source=source, upscaler=upscaler, **msgspec.structs.asdict(size))
            for source in self._sources
        )
        self._commands.ask(self._requests)
        self._tell()

    def _on_changed(self) -> None:
        if not self.isVisible():
            return
        if {upscaler.path for upscaler in self._commands.upscalers} - {
            self.upscaler.itemData(row) for row in range(self.upscaler.count())
        }:
            self._list_upscalers()
            self._ask()
        self._tell_upscaler()
        self._tell()

    def _tell(self) -> None:
        """Show the size, the time and the memory, or why a picture is refused."""
        told = [self._commands.outlook(request) for request in self._requests]
        refused = next((answer for answer in told if isinstance(answer, ErrorInfo)), None)
        known = [answer for answer in told if isinstance(answer, UpscaleOutlook)]
        self.refusal.setText(worded_both(refused.text, refused.advice) if refused else "")
        self.refusal.setVisible(refused is not None)
        self.start.setEnabled(refused is None and bool(known))
        self.result.setText(self._size_words(known))
        self.cost.setText(self._cost_words(known))
        # A screen reader says nothing of labels, and not the name of a popup.
        told_words = (self.result.text(), self.cost.text(), self.refusal.text())
        self.start.setAccessibleDescription(". ".join(filter(None, told_words)))
        self.cost.setVisible(refused is None)
        self.result.setVisible(refused is None)
        if self.isVisible():
            self._place()

    def _size_words(self, known: Sequence[UpscaleOutlook]) -> str:
        if not known:
            return self.tr("Working it out…")
        if len(self._sources) == 1:
            return size_label(known[0].width, known[0].height)
        largest = max(known, key=lambda outlook: outlook.width * outlook.height)
        return self.tr("Up to {size}").format(size=size_label(largest.width, largest.height))

    def _cost_words(self, known: Sequence[UpscaleOutlook]) -> str:
        """Return the time and the memory of all pictures, as far as they are known."""
        if not known:
            return ""
        times = [outlook.seconds for outlook in known if outlook.seconds is not None]
        parts = [self.tr("time not known yet")]
        if times:
            seconds = sum(times) / len(times) * len(self._sources)
            text = self.tr("about {time}")
            if any(outlook.runs and not outlook.is_measured for outlook in known):
                text = self.tr("roughly {time}")
            parts = [text.format(time=duration(seconds)) if seconds else self.tr("a moment")]
        peak = max(known, key=lambda outlook: outlook.peak_bytes)
        memory = self.tr("{size} of memory").format(size=file_size(peak.peak_bytes))
        if peak.free_bytes:
            memory = self.tr("{size} of memory, {free} is free").format(
                size=file_size(peak.peak_bytes), free=file_size(peak.free_bytes)
            )
        tiles = max(outlook.tiles for outlook in known)
        if tiles > 1:
            parts.append(self.tr("{n} tiles").format(n=tiles))
        return " · ".join((*parts, memory))

    def _names(self) -> str:
        if len(self._sources) == 1:
            return Path(self._sources[0]).name
        return self.tr("{n} pictures").format(n=len(self._sources))

    def _start(self) -> None:
        self._commands.latest = str(self.upscaler.currentData() or "")
        self.close()
        self._commands.start(self._requests)

    def _place(self) -> None:
        """Lie beside the anchor: below it where there is room, else above, within the screen."""
        layout = self.layout()
        assert layout is not None
        # All that it needs: adjustSize() stops at two thirds of the screen, and cuts rows off.
        self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        anchor = self._anchor
        room = self.screen().availableGeometry()
        height = self.height()
        fits = anchor.bottom() + height < room.bottom()
        top = anchor.bottom() + 1 if fits else anchor.top() - height
        left = min(max(anchor.left(), room.left()), room.right() + 1 - self.width())
        self.move(QPoint(left, max(top, room.top())))
