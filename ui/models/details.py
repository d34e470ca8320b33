"""The pane about one model: what it is, what it lacks, notes, and what can be done with it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.library.model_notes import MOST_CHARACTERS
from app.notices.wording import worded_both
from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.model_files import MODEL_SUFFIXES, ModelInfo, ModelKind
from engine.folders import has_suffix
from ui.action_names import ActionName
from ui.checkpoint_labels import fit_label, part_label, part_summary, prediction_line
from ui.key_tips import show_key
from ui.labels import size_label, steps_label, variant_label, when
from ui.method_labels import method_name
from ui.model_labels import (
    families_label,
    kind_label,
    model_size,
    name_label,
    preview_of,
    upscaler_about,
    use_label,
)
from ui.models.own_settings import OwnSettings
from ui.pictures import ReadPicture, read_picture
from ui.theme.metrics import DETAILS_WIDTH, XS, M, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.filled_button import FilledButton
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, buddy_label, plain_label, whole_parts
from ui.widgets.placing import fitted
from ui.widgets.scroll_area import scroll_area
from ui.widgets.text_field import TextField

_PICTURE_HEIGHT = 240
_NOTE_HEIGHT = 88
# A note is kept when its writing has paused for so long.
_SETTLE_MS = 600
Facts = Sequence[tuple[str, str]]


class ModelDetails(QWidget):
    """The facts about a model and its buttons; `show_model` follows the list."""

    reveal = Signal(str)

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self._model: ModelInfo | None = None
        self.setProperty("role", "panel")
        self.picture = _Picture()
        self.name = plain_label("", "heading", wrap=True)
        self.about = plain_label("", "label", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        self.gaps = QWidget()
        self.facts = QWidget()
        self.own_settings = OwnSettings(session)
        self.use = FilledButton()
        self.reveal_button = IconButton(theme, "reveal", self.tr("Show in the file manager"))
        self.trash = IconButton(theme, "trash", self.tr("Move to the trash"))
        show_key(self.trash, ActionName.TRASH_MODEL)
        self.hash = QPushButton(self.tr("Compute the hash"))
        self.unhashed = plain_label(
            self.tr("The hash could not be computed: the file has changed, or cannot be read."),
            "error",
            wrap=True,
        )
        self.note = TextField(MOST_CHARACTERS)
        self._kept = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._lay_out()
        self._connect()
        self.show_model(None)

    @property
    def model(self) -> ModelInfo | None:
        """The model that is shown; None for none."""
        return self._model

    def show_model(self, model: ModelInfo | None) -> None:
        """Show a model, and have the engine say what its file does not tell at once."""
        before = self._model
        is_another = model is None or before is None or before.path != model.path
        if is_another:
            self._keep_note()
        self._model = model
        self.setVisible(model is not None and self.parentWidget() is not None)
        if model is None:
            return
        if is_another:
            self.note.setPlainText(self._session.model.note_of(model))
            self._kept.stop()
            self.area.verticalScrollBar().setValue(0)
        if is_another or before != model:
            self._session.model.look(model)
            self._read_picture(model)
        self._refresh()

    def _lay_out(self) -> None:
        self.hash.setProperty("role", "link")
        self.note.setFixedHeight(_NOTE_HEIGHT)
        self.note.setTabChangesFocus(True)
        self.note.setPlaceholderText(self.tr("What it is good at, which words it likes…"))
        content = QWidget()
        self._column = column = QVBoxLayout(content)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(S)
        for widget in (self.picture, self.name, self.about, self.problem, self.gaps):
            column.addWidget(widget)
        column.addWidget(self.own_settings)
        column.addWidget(self.facts)
        column.addWidget(self.hash, 0, Qt.AlignmentFlag.AlignLeading)
        column.addWidget(self.unhashed)
        column.addSpacing(S)
        column.addWidget(buddy_label(self.tr("Notes"), self.note))
        column.addWidget(self.note)
        column.addStretch()
        self.area = scroll_area(self.tr("About the model"))
        self.area.setWidget(content)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(M, S, M, M)
        buttons.setSpacing(XS)
        buttons.addWidget(self.use, 1)
        buttons.addStretch()
        buttons.addWidget(self.reveal_button)
        buttons.addWidget(self.trash)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.area, 1)
        whole.addLayout(buttons)

    def _connect(self) -> None:
        session = self._session
        session.checkpoints.looked.connect(self._on_looked)
        session.generation.checkpoint_changed.connect(self._show_use)
        session.models.store.hash_changed.connect(self._on_hash)
        self._kept.timeout.connect(self._keep_note)
        self.note.textChanged.connect(self._kept.start)
        self.use.clicked.connect(self._use)
        self.reveal_button.clicked.connect(self._reveal)
        self.trash.clicked.connect(self._trash)
        self.hash.clicked.connect(self._hash)

    def _use(self) -> None:
        if self._model is not None:
            self._session.model.use(self._model)

    def _reveal(self) -> None:
        if self._model is not None:
            self.reveal.emit(self._model.path)

    def _trash(self) -> None:
        if self._model is not None:
            self._session.model.trash(self._model)

    def _hash(self) -> None:
        if self._model is not None:
            self._session.models.store.hash(self._model.path)

    def _keep_note(self) -> None:
        self._kept.stop()
        model, text = self._model, self.note.toPlainText()[:MOST_CHARACTERS]
        if model is not None and text != self._session.model.note_of(model):
            self._session.model.note(model, text)

    def _on_looked(self, path: object, _answer: object) -> None:
        if self._model is not None and str(path) == self._model.path:
            self._refresh()

    def _on_hash(self, path: str) -> None:
        if self._model is not None and path == self._model.path:
            self._model = self._session.models.store.info(path) or self._model
            self._refresh()

    def _read_picture(self, model: ModelInfo) -> None:
        self.picture.show_pixmap(QPixmap())
        preview = preview_of(self._session, model)
        if not preview:
            return
        ratio = self.devicePixelRatioF()
        room = QSize(DETAILS_WIDTH, _PICTURE_HEIGHT) * ratio

        def show(read: ReadPicture) -> None:
            if self._model is not None and self._model.path == model.path:
                pixmap = QPixmap.fromImage(read.image)
                pixmap.setDevicePixelRatio(ratio)
                self.picture.show_pixmap(pixmap)

        self._session.background.run(lambda: read_picture(preview, room), show)

    def _refresh(self) -> None:
        model = self._model
        assert model is not None
        session = self._session
        answer = session.checkpoints.answer(Path(model.path))
        info = answer if isinstance(answer, CheckpointInfo) else None
        self.name.setText(breakable(name_label(session, model)))
        family = families_label(model, session.checkpoints.family_title)
        variant = (
            upscaler_about(model)
            if model.kind is ModelKind.UPSCALER
            else variant_label(model.variant)
        )
        kind = kind_label(model.kind)
        self.about.setText(breakable(" · ".join(filter(None, (kind, family, variant)))))
        self.problem.setText(breakable(worded_both(model.problem, model.hint)))
        self.problem.setVisible(bool(model.problem))
        self._show_use()
        # It comes with the application, whose files are not a person's to throw away.
        self.trash.setVisible(session.model.can_trash(model))
        self._put("gaps", _GapList(session, self._theme, model, info))
        self._put("facts", _Table(self._facts(model, info)))
        is_checkpoint = model.kind is ModelKind.CHECKPOINT
        self.own_settings.show_model(Path(model.path) if is_checkpoint else None)
        percent = session.models.store.hashed_percent(model.path)
        is_file = has_suffix(model.path, MODEL_SUFFIXES)
        self.hash.setVisible(not model.sha256 and model.size > 0 and is_file)
        self.hash.setEnabled(percent is None)
        self.unhashed.setVisible(session.models.store.is_unhashed(model.path))
        self.hash.setText(
            self.tr("Compute the hash")
            if percent is None
            else self.tr("Computing the hash: {n} %").format(n=percent)
        )

    def _show_use(self) -> None:
        """Offer to use the model, unless the form has it."""
        model = self._model
        if model is None:
            return
        in_use = self._session.model.is_in_use(model)
        self.use.setText(self.tr("In use") if in_use else use_label(model.kind))
        self.use.setEnabled(not in_use)
        self.use.setVisible(self._session.model.can_use(model))

    def _put(self, name: str, made: QWidget) -> None:
        """Put a new widget in the place of an old one."""
        old: QWidget = getattr(self, name)
        self._column.replaceWidget(old, made)
        old.hide()
        old.deleteLater()
        setattr(self, name, made)

    def _facts(self, model: ModelInfo, info: CheckpointInfo | None) -> Facts:
        facts = [
            (self.tr("Title"), model.title),
            (self.tr("Made from"), model.base_model),
            (self.tr("Size"), model_size(model)),
            (self.tr("Precision"), " / ".join(model.precisions)),
            (self.tr("Trigger words"), ", ".join(model.trigger_words)),
        ]
        if info is not None:
            facts += self._checkpoint_facts(info)
        facts += [
            (self.tr("Changed"), when(model.modified_ns)),
            (self.tr("Place"), model.path),
            (self.tr("SHA-256"), model.sha256),
        ]
        return [(name, text) for name, text in facts if text]

    def _checkpoint_facts(self, info: CheckpointInfo) -> Facts:
        facts = [
            (self.tr("Prediction"), prediction_line(info)),
            (self.tr("Picture"), size_label(info.default_size, info.default_size)),
        ]
        if info.suggested:
            first = info.suggested[0]
            text = self.tr("{sampler}, {steps}, guidance {guidance}")
            guidance = self.locale().toString(first.guidance, "g", 3)
            words = text.format(
                sampler=method_name(first.sampler),
                steps=steps_label(first.steps),
                guidance=guidance,
            )
            facts.append((self.tr("Defaults"), words))
        facts += [(part_label(part.name), part_summary(part)) for part in info.components]
        facts.append((self.tr("Author's notes"), info.card.notes))
        return facts


class _GapList(QWidget):
    """The parts that a checkpoint lacks, each with the files that fit."""

    def __init__(
        self, session: Session, theme: Theme, model: ModelInfo, info: CheckpointInfo | None
    ) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        if info is None:
            for part in model.missing:
                text = self.tr("{part} is missing.").format(part=part_label(part))
                column.addWidget(plain_label(text, "error", wrap=True))
            return
        for gap in info.gaps:
            part = part_label(gap.component)
            text = (
                self.tr("{part} is missing. Of your files this one fits best:")
                if gap.fits
                else self.tr("{part} is missing, and none of your files has one that fits.")
            )
            column.addWidget(plain_label(text.format(part=part), "error", wrap=True))
            if not gap.fits:
                continue
            box = ChoiceBox(theme, of_files=True)
            box.setAccessibleName(self.tr("Files that fit: {part}").format(part=part))
            for fit in gap.fits:
                family = session.checkpoints.family_title(fit.family)
                box.addItem(fit_label(fit, session.checkpoints.models, family), fit.path)
            give = QPushButton(self.tr("Use it"))
            give.setAccessibleName(self.tr("Use this file: {part}").format(part=part))
            give.clicked.connect(
                lambda _=False, box=box, component=gap.component: session.model.supply(
                    model.path, component, box.currentData()
                )
            )
            row = QHBoxLayout()
            row.setSpacing(S)
            row.addWidget(box, 1)
            row.addWidget(give)
            column.addLayout(row)


class _Picture(QWidget):
    """The picture of a model, whole; without one it takes no room."""

    def __init__(self) -> None:
        super().__init__()
        self._pixmap = QPixmap()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_pixmap(self, pixmap: QPixmap) -> None:
        """Show a picture, or nothing."""
        self._pixmap = pixmap
        self.setFixedHeight(0 if pixmap.isNull() else _PICTURE_HEIGHT)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the picture in the middle."""
        if self._pixmap.isNull():
            return
        place: QRect = fitted(self._pixmap.deviceIndependentSize().toSize(), self.rect())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(place, self._pixmap)


class _Table(QWidget):
    """A table of facts: names and values in two columns."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, S, 0, S)
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(XS)
        grid.setColumnStretch(1, 1)
        for row, (name, text) in enumerate(facts):
            caption = plain_label(name, "caption", wrap=True)
            grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
            value = plain_label(whole_parts(breakable(text)), "note", wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignTop)
