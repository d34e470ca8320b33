"""The form: prompts, checkpoint, size, sampler, seed and the other settings of a request."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.form.generation import MOST_CHARACTERS
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from ui.actions import ActionName, Actions
from ui.bind import bind_shown, bind_text
from ui.labels import extras_summary, side_remark, size_remark
from ui.panels.checkpoint_panel import CheckpointPanel
from ui.panels.input_panel import InputPanel
from ui.panels.lora_panel import LoraPanel
from ui.panels.method_panel import MethodPanel
from ui.panels.prompt_panel import PromptPanel
from ui.panels.refiner_panel import RefinerPanel
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import align, breakable, plain_label
from ui.widgets.number_field import DecimalField, WholeField
from ui.widgets.prompt_edit import PromptEdit
from ui.widgets.seed_field import SeedField
from ui.widgets.size_field import SizeField
from ui.widgets.slider_field import SliderField
from ui.widgets.stepper import Stepper

_PROMPT_LINES, _NEGATIVE_LINES = 5, 2
# The ranges of the sliders; the fields accept more.
_USUAL_STEPS, _USUAL_GUIDANCE = (1, 60), (1, 15)


class FormPanel(QScrollArea):
    """The form, which shows `GenerationState` and writes the user's edits back to it."""

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, lora_pictures: ThumbnailStore
    ) -> None:
        super().__init__()
        self._session = session
        self._state = session.generation
        self.prompt = PromptEdit(theme, _PROMPT_LINES, MOST_CHARACTERS)
        self.negative = PromptEdit(theme, _NEGATIVE_LINES, MOST_CHARACTERS)
        prompts = session.prompts
        self.prompt_panel = PromptPanel(self.tr("Prompt"), self.prompt, prompts.prompt)
        self.negative_panel = PromptPanel(
            self.tr("Negative prompt"), self.negative, prompts.negative
        )
        self.checkpoint = CheckpointPanel(session, theme, actions)
        self.refiner = RefinerPanel(session, theme)
        self.loras = LoraPanel(session, theme, lora_pictures)
        self.inputs = InputPanel(session, theme, actions)
        self.picture_size = SizeField(theme)
        self.size_remark = plain_label("", "caption", wrap=True)
        # The remark on an adjusted side, and the size to which the remark belongs.
        self._adjusted: tuple[str, tuple[int, int]] = "", (0, 0)
        steps = WholeField(*bounds_of(GenerateRequest, "steps").whole)
        self.steps = SliderField(self.tr("Steps"), steps, _USUAL_STEPS)
        guidance = DecimalField(*bounds_of(GenerateRequest, "guidance"), step=0.5)
        self.guidance = SliderField(self.tr("Guidance"), guidance, _USUAL_GUIDANCE)
        self.method = MethodPanel(self._state, theme)
        self.seed = SeedField(theme)
        least, most = bounds_of(GenerateRequest, "count").whole
        self.count = Stepper(theme, self.tr("Pictures"), least, most)
        self.extras = _ExtrasRow(theme)
        self.reset = QPushButton(self.tr("Reset to model defaults"))
        self._lay_out()
        self._bind_texts()
        self._bind_numbers()
        self._bind_seed(actions)
        self._bind_extras()
        self._state.suggestions_changed.connect(self._offer)
        self._offer()

    def _lay_out(self) -> None:
        self.reset.setProperty("role", "link")
        content = QWidget()
        content.setProperty("role", "panel")
        column = self._column = QVBoxLayout(content)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(M)
        column.addWidget(self.prompt_panel)
        column.addWidget(self.negative_panel)
        self.negative.setPlaceholderText(self.tr("Things to avoid, e.g. blurry, text"))
        column.addWidget(self.checkpoint)
        column.addWidget(self.refiner)
        column.addWidget(self.loras)
        column.addWidget(self.inputs)
        sizes = QVBoxLayout()
        sizes.setSpacing(XS)
        sizes.addWidget(self.picture_size)
        sizes.addWidget(self.size_remark)
        column.addLayout(sizes)
        rows = QVBoxLayout()
        rows.setSpacing(S)
        for widget in (self.steps, self.guidance, self.method, self.seed, self.count):
            rows.addWidget(widget)
        column.addLayout(rows)
        labels = (self.steps.label, self.guidance.label, self.seed.label, self.count.label)
        align((*labels, *self.method.labels, *self.inputs.labels, *self.refiner.labels))
        column.addWidget(self.extras)
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._make_room)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def _offer(self, *_: object) -> None:
        """Show the controls that the checkpoint's features support."""
        features = self._state.suggestions.features
        self.negative_panel.setVisible(features.negative_prompt)
        self.picture_size.set_step(features.size_multiple)

    def needed_width(self) -> int:
        """Return the least width at which nothing is cut off, including a scroll bar."""
        margins = self._column.contentsMargins()
        content = self._column.minimumSize().width() - margins.left() - margins.right()
        return content + 2 * M

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to a field that received the focus by the keyboard."""
        content = self.widget()
        by_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        # A field under the mouse is visible, and must not move away from it.
        if now is not None and content is not None and content.isAncestorOf(now) and not by_mouse:
            group = now
            while (above := group.parentWidget()) is not None and above is not content:
                group = above
            # First show the field's group with its label, as far as it fits, then the field.
            self.ensureWidgetVisible(group, 0, M)
            self.ensureWidgetVisible(now, 0, M)

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
        bind_shown(self.steps, changed, lambda: state.effective.steps, self.steps.show_value)
        bind_shown(
            self.guidance, changed, lambda: state.effective.guidance, self.guidance.show_value
        )
        bind_shown(self.count, state.count_changed, lambda: state.count, self.count.show_value)
        self.picture_size.edited.connect(self._on_size)
        self.picture_size.adjusted.connect(self._on_adjusted)
        self.steps.edited.connect(self._on_steps)
        self.guidance.edited.connect(self._on_guidance)
        # The checkpoint's own values.
        self.steps.reset.connect(lambda: self._on_steps(None))
        self.guidance.reset.connect(lambda: self._on_guidance(None))
        self.count.edited.connect(self._on_count)
        changed.connect(self._on_choices)
        self.reset.clicked.connect(self._session.changes.reset)
        self._on_choices()

    def _bind_seed(self, actions: Actions) -> None:
        state = self._state
        state.seed_changed.connect(self._show_seed)
        state.seed_locked_changed.connect(self._show_seed)
        self.seed.edited.connect(self._on_seed)
        self.seed.locked.connect(self._on_locked)
        actions[ActionName.NEW_SEED].triggered.connect(self.seed.dice.click)
        actions[ActionName.KEEP_SEED].triggered.connect(self.seed.lock.click)
        for button, name in (
            (self.seed.dice, ActionName.NEW_SEED),
            (self.seed.lock, ActionName.KEEP_SEED),
        ):
            button.set_name(button.accessibleName(), actions.key(name))
            # A field that a key changes must be visible.
            actions[name].triggered.connect(self._show_seed_field)
        self._show_seed()

    def _show_seed_field(self) -> None:
        self.ensureWidgetVisible(self.seed, 0, M)

    def _bind_extras(self) -> None:
        state = self._state

        def show() -> None:
            self.extras.tell(extras_summary(state.extras))

        state.extras_changed.connect(show)
        self.extras.drop.clicked.connect(self._session.changes.drop_extras)
        show()

    def _show_seed(self) -> None:
        self.seed.show_seed(self._state.seed, locked=self._state.seed_locked)

    def _on_choices(self) -> None:
        self.reset.setVisible(self._state.has_choices)
        effective = self._state.effective
        size = effective.width, effective.height
        adjusted, of_size = self._adjusted
        if size != of_size:
            adjusted = ""
        known = self._state.suggestions
        fit = "" if known.is_guess else size_remark(*size, known.side)
        remark = "\n".join(filter(None, (adjusted, fit)))
        self.size_remark.setText(remark)
        self.size_remark.setVisible(bool(remark))

    def _on_size(self, width: int, height: int) -> None:
        self._state.width, self._state.height = width, height

    def _on_adjusted(self, typed: int, taken: int) -> None:
        effective = self._state.effective
        self._adjusted = (
            side_remark(typed, taken, self.picture_size.width_field.singleStep()),
            (effective.width, effective.height),
        )
        self._on_choices()

    def _on_steps(self, steps: int | None) -> None:
        self._state.steps = steps

    def _on_guidance(self, guidance: float | None) -> None:
        self._state.guidance = guidance

    def _on_count(self, count: int) -> None:
        self._state.count = count

    def _on_seed(self, seed: int | None) -> None:
        # A typed seed is locked, or a new one would replace it.
        self._state.seed = seed
        self._state.seed_locked = seed is not None

    def _on_locked(self, locked: bool) -> None:
        self._state.seed_locked = locked and self._state.seed is not None


class _ExtrasRow(QFrame):
    """A row for reused settings that the form has no controls for, and a button to drop them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._text = plain_label("", "caption", wrap=True)
        self.drop = IconButton(theme, "close", self.tr("Remove"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(XS)
        layout.addWidget(plain_label(self.tr("Extra settings from this picture"), "label"))
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self._text, 1)
        row.addWidget(self.drop)
        layout.addLayout(row)

    def text(self) -> str:
        """Return the text of the row."""
        return self._text.text()

    def tell(self, text: str) -> None:
        """Show the active settings; an empty text hides the row."""
        self._text.setText(breakable(text))
        self.setVisible(bool(text))
