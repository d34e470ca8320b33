"""The form: prompts, checkpoint, size, sampler, seed and the other settings of a request."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.form.generation import MOST_CHARACTERS
from app.form.options import OptionGroup
from app.session import Session
from engine.api.values import ErrorCode
from ui.actions import Actions
from ui.bind import bind_shown, bind_text
from ui.drop_spots import DropSpot
from ui.labels import file_size, no_layers_words, side_remark, size_remark
from ui.outlook_labels import outlook_words
from ui.panels.advanced_panel import AdvancedPanel
from ui.panels.checkpoint_panel import CheckpointPanel
from ui.panels.embedding_panel import EmbeddingPanel
from ui.panels.input_panel import InputPanel
from ui.panels.layer_panel import LayerPanel
from ui.panels.lora_panel import LoraPanel
from ui.panels.option_rows import OptionRows
from ui.panels.preset_panel import PresetPanel
from ui.panels.prompt_panel import PromptPanel
from ui.panels.reference_panel import ReferencePanel
from ui.panels.second_pass_panel import SecondPassPanel
from ui.theme.metrics import XS, M
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.edge_scroll import EdgeScroll
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import align, plain_label
from ui.widgets.prompt_edit import PromptEdit
from ui.widgets.size_field import SizeField

if TYPE_CHECKING:
    from ui.dialogs.wildcards_dialog import WildcardsDialog

# The fewest and the most lines of the two prompts, which grow with their texts.
_PROMPT_LINES, _NEGATIVE_LINES = (4, 12), (1, 6)


class FormPanel(QScrollArea):
    """The form, which shows `GenerationState` and writes the user's edits back to it."""

    # Nothing is cut off from another width on: a card came or went.
    needs_width = Signal()
    # The field that had the focus last; only compared, as it may be gone.
    _focused: QWidget | None = None

    def __init__(
        self,
        session: Session,
        theme: Theme,
        actions: Actions,
        lora_pictures: ThumbnailStore,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._theme = session, theme
        self._state = session.generation
        self.prompt = PromptEdit(theme, _PROMPT_LINES, MOST_CHARACTERS)
        self.negative = PromptEdit(theme, _NEGATIVE_LINES, MOST_CHARACTERS)
        prompts = session.prompts
        self.prompt_panel = PromptPanel(
            session, self.tr("Prompt"), self.prompt, prompts.prompt, prompts.unknown
        )
        self.negative_panel = PromptPanel(
            session, self.tr("Negative prompt"), self.negative, prompts.negative
        )
        self.surprise = IconButton(theme, "sparkle", self.tr("Surprise me: an example prompt"))
        self.lists = IconButton(theme, "list", self.tr("Lists of words…"))
        self.presets = PresetPanel(session, theme, actions)
        self.checkpoint = CheckpointPanel(session, theme, actions)
        self.loras = LoraPanel(session, theme, lora_pictures)
        self.embeddings = EmbeddingPanel(session, theme, lora_pictures)
        self.inputs = InputPanel(session, theme, actions)
        self.references = ReferencePanel(session, theme)
        self._make_layers()
        self.mask_rows = OptionRows(self._state, OptionGroup.MASK, theme)
        self.picture_size = SizeField(theme)
        self.size_remark = plain_label("", "caption", wrap=True)
        # The remark on an adjusted side, and the size to which the remark belongs.
        self._adjusted: tuple[str, tuple[int, int]] = "", (0, 0)
        self._lay_out()
        self._bind_texts()
        self._bind_numbers()
        self._state.suggestions_changed.connect(self._offer)
        self._state.guidance_options_changed.connect(self._offer)
        self._offer()

    def _make_layers(self) -> None:
        """Make the panels of what steers or enlarges the picture."""
        session, theme = self._session, self._theme
        self.scrolling = EdgeScroll(self)
        self.controls = LayerPanel(session, session.control, theme, self.scrolling)
        self.image_prompts = LayerPanel(session, session.image_prompt, theme, self.scrolling)
        self.no_layers = plain_label("", "caption", wrap=True)
        self.second_passes = SecondPassPanel(session, theme)
        for panel in (self.controls, self.image_prompts, self.second_passes):
            panel.revealed.connect(self._show_card)

    def _lay_out(self) -> None:
        content = QWidget()
        content.setProperty("role", "panel")
        self._needed = 0
        self.setWidget(content)
        column = self._column = QVBoxLayout(content)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(M)
        self.prompt.setPlaceholderText(self.tr("Describe the picture, e.g. a red house by the sea"))
        for button in (self.lists, self.surprise):
            self.prompt_panel.head.addWidget(button)
        self.negative.setPlaceholderText(self.tr("Things to avoid, e.g. blurry, text"))
        column.addWidget(self.presets)
        sizes = QVBoxLayout()
        sizes.setSpacing(XS)
        sizes.addWidget(self.picture_size)
        sizes.addWidget(self.size_remark)
        for widget in (self.checkpoint, self.prompt_panel, self.negative_panel):
            column.addWidget(widget)
        for widget in (self.loras, self.embeddings, self.references, self.inputs, self.mask_rows):
            column.addWidget(widget)
        for widget in (self.controls, self.image_prompts, self.no_layers):
            column.addWidget(widget)
        column.addLayout(sizes)
        column.addWidget(self.second_passes)
        self.advanced = AdvancedPanel(self._session, self._theme, content)
        column.addWidget(self.advanced)
        align((*self.inputs.labels, *self.mask_rows.labels))
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content.installEventFilter(self)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._make_room)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def _offer(self, *_: object) -> None:
        """Show the controls that the checkpoint's features support."""
        features = self._state.suggestions.features
        self.negative_panel.setVisible(self._state.sees_negative)
        self.picture_size.set_step(features.size_multiple)
        known = not self._state.suggestions.is_guess
        words = no_layers_words(features) if known else ""
        self.no_layers.setText(words)
        self.no_layers.setVisible(bool(words))

    def showEvent(self, arg__1: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Give the focus of a new window to the prompt, and have the memory planned."""
        super().showEvent(arg__1)
        if not self.window().focusWidget():
            self.prompt.setFocus()
        self._session.outlook.want(wanted=True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Have no memory planned that nobody sees."""
        super().hideEvent(event)
        self._session.outlook.want(wanted=False)

    def drop_spots(self) -> list[DropSpot]:
        """Return the places that take a dropped picture themselves, inner ones first."""
        panels = self.references, self.inputs, self.controls, self.image_prompts
        return [spot for panel in panels if panel.isVisible() for spot in panel.drop_spots()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Tell when the content needs another width than before."""
        is_content = watched is self.widget()
        if is_content and event.type() is QEvent.Type.LayoutRequest:
            least = self.needed_width()
            if least != self._needed:
                self._needed = least
                self.needs_width.emit()
        return super().eventFilter(watched, event)

    def needed_width(self) -> int:
        """Return the least width at which nothing is cut off, including a scroll bar."""
        margins = self._column.contentsMargins()
        content = self._column.minimumSize().width() - margins.left() - margins.right()
        return content + 2 * M

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to a field that received the focus by the keyboard."""
        content = self.widget()
        by_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if now is None or content is None or not content.isAncestorOf(now):
            return
        # A field that has the focus again, as after another window was in front, led nobody here.
        is_elsewhere = before is None or before.window() is not self.window()
        is_back = is_elsewhere and now is self._focused
        self._focused = now
        # A field under the mouse is visible, and must not move away from it.
        if not is_back and not by_mouse:
            group = now
            while (above := group.parentWidget()) is not None and above is not content:
                group = above
            # First show the field's group with its label, as far as it fits, then the field.
            self.ensureWidgetVisible(group, 0, M)
            self.ensureWidgetVisible(now, 0, M)

    def _show_card(self, card: QWidget) -> None:
        """Scroll to a card: to its head, where it is higher than the form."""
        content = self.widget()
        if content is None:
            return
        self._column.activate()
        place = card.mapTo(content, card.rect().topLeft())
        height = min(card.height(), self.viewport().height() - 2 * M)
        self.ensureVisible(0, place.y() + height // 2, 0, height // 2 + M)

    def _make_room(self, low: int, high: int) -> None:
        """Shrink the margin by the scroll bar's width, so that the form does not move."""
        taken = self.verticalScrollBar().sizeHint().width() if high > low else 0
        self._column.setContentsMargins(M, M, M - taken, M)

    def _bind_texts(self) -> None:
        state = self._state

        def write_prompt(text: str) -> None:
            state.prompt = text

        def write_negative(text: str) -> None:
            state.negative_prompt = text

        bind_text(self.prompt, state.prompt_changed, lambda: state.prompt, write_prompt)
        bind_text(
            self.negative,
            state.negative_prompt_changed,
            lambda: state.negative_prompt,
            write_negative,
        )

        for edit in (self.prompt, self.negative):
            edit.shortened.connect(self._on_shortened)
        self.surprise.clicked.connect(self._session.changes.surprise)
        self.lists.clicked.connect(partial(self.show_lists, ""))
        for panel in (self.prompt_panel, self.negative_panel):
            panel.make_list.clicked.connect(
                lambda _=False, own=panel: self.show_lists(own.missing_list)
            )

    def show_lists(self, new: str) -> "WildcardsDialog":
        """Open the lists of words; `new` is the name of a list to begin, or empty."""
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.wildcards_dialog import WildcardsDialog

        dialog = WildcardsDialog(self._session, self._theme, self.window())
        if new:
            dialog.begin(new)
        dialog.open()
        return dialog

    def _on_shortened(self) -> None:
        self._session.notices.tell(
            self.tr("The text was too long to be pasted whole."),
            self.tr("A prompt has room for {n} characters.").format(n=MOST_CHARACTERS),
        )

    def _bind_numbers(self) -> None:
        state, changed = self._state, self._state.effective_changed

        def show_size(size: tuple[int, int, int]) -> None:
            self.picture_size.show_size(*size)

        bind_shown(
            self.picture_size,
            changed,
            lambda: (state.effective.width, state.effective.height, state.suggestions.side),
            show_size,
        )
        self.picture_size.edited.connect(self._on_size)
        self.picture_size.adjusted.connect(self._on_adjusted)
        changed.connect(self._on_choices)
        self._on_choices()
        for told in (self._session.outlook.outlook_changed, self._session.outlook.problem_changed):
            told.connect(self._tell_memory)

    def _on_choices(self) -> None:
        effective = self._state.effective
        size = effective.width, effective.height
        adjusted, of_size = self._adjusted
        if size != of_size:
            adjusted = ""
        known = self._state.suggestions
        fit = "" if known.is_guess else size_remark(*size, known.side, known.longest_side)
        remark = "\n".join(filter(None, (adjusted, fit)))
        self.size_remark.setText(remark)
        self.size_remark.setVisible(bool(remark))

    def _tell_memory(self, *_: object) -> None:
        """Show the memory that the picture needs; where it cannot be made for that, the reason."""
        outlook, problem = self._session.outlook.outlook, self._session.outlook.problem
        words = ""
        if outlook is not None:
            words = self.tr("about {size} of memory").format(size=file_size(outlook.peak_bytes))
        elif problem is not None and problem.code is ErrorCode.OUT_OF_MEMORY:
            words = self.tr("too large for the memory")
        self.picture_size.show_memory(words, outlook_words(outlook, problem) if words else "")

    def _on_size(self, width: int, height: int) -> None:
        with self._state.at_once():
            self._state.width, self._state.height = width, height

    def _on_adjusted(self, typed: int, taken: int) -> None:
        effective = self._state.effective
        self._adjusted = (
            side_remark(typed, taken, self.picture_size.width_field.singleStep()),
            (effective.width, effective.height),
        )
        self._on_choices()
