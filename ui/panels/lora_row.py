"""One LoRA of the form: its picture, its strengths, its trigger words and what it suggests."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.form.lora_list import LoraFate, LoraRow
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.lora_files import FewStepSettings
from ui.lora_labels import choice_name, few_steps_words
from ui.panels.card_list import ListedCard
from ui.theme.metrics import CONTROL_HEIGHT, XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, align, breakable, plain_label, plain_tooltip
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField
from ui.widgets.thumbnail_view import ThumbnailView
from ui.widgets.tick_box import TickBox
from ui.widgets.word_chips import WordChips

SIDE = 40
# The range of the sliders; the fields accept more.
_USUAL = (0, 1.5)
_STEP = 0.05
FULL_STRENGTH = 1.0
# The fates in which a LoRA's words and settings are of use.
_USABLE = (LoraFate.APPLIED, LoraFate.OFF, LoraFate.UNREAD)


class LoraRowPanel(ListedCard):
    """A LoRA of the form; it emits the user's changes and shows what it is told."""

    # Emits the names and values of changed fields of `LoraChoice`.
    changed = Signal(dict)
    wants_file = Signal()
    # The user wants to choose among files of one name.
    wants_another = Signal()
    # Emits FewStepSettings.
    wants_settings = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.thumbnail = ThumbnailView(theme, SIDE)
        self.enabled = TickBox()
        self.name, self.about = ElidedLabel(), ElidedLabel("caption")
        self.remove = IconButton(theme, "close", self.tr("Remove"))
        self.reason = plain_label("", "note", wrap=True)
        self.find_it = QPushButton(self.tr("Find it…"))
        self.another = QPushButton(self.tr("Another file of this name…"))
        self.another.setProperty("role", "link")
        bounds = bounds_of(LoraChoice, "strength")
        self.strength = SliderField(self.tr("Strength"), DecimalField(*bounds, step=_STEP), _USUAL)
        self.text_strength = SliderField(
            self.tr("On text"), DecimalField(*bounds, step=_STEP), _USUAL
        )
        self.strength.slider.setToolTip(self.tr("Double-click for 1"))
        self.text_strength.setToolTip(self.tr("The strength of what it does to the prompt"))
        self.text_strength.slider.setToolTip(self.tr("Double-click for the same as above"))
        self.more = IconButton(theme, "chevron", self.tr("A strength of its own for the text"))
        self.more.setCheckable(True)
        self.words = WordChips(self.tr("Trigger words"))
        self.use_settings = QPushButton()
        self.use_settings.setProperty("role", "link")
        self._settings: FewStepSettings | None = None
        self._shown: tuple[LoraRow, str, str] | None = None
        self._lay_out()
        self._connect()

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        head = self.enabled, self.remove, self.find_it, self.another
        strengths = self.strength.slider, self.strength.field, self.more
        text = self.text_strength.slider, self.text_strength.field
        words = *self.words.chips, self.words.more
        return (*head, *strengths, *text, *words, self.use_settings)

    def show_row(self, row: LoraRow, about: str, reason: str) -> None:
        """Show a LoRA; `about` is a line about its file, `reason` says why it is not applied."""
        if (row, about, reason) == self._shown:
            return
        before = self._shown
        self._shown = row, about, reason
        choice = row.choice
        is_another = before is None or before[0].choice.file != choice.file
        name = choice_name(choice, row.info)
        self.name.setText(name)
        self.name.setToolTip(plain_tooltip(choice.file if row.info is None else row.info.path))
        self.about.setText(about)
        self._name_controls(name)
        self.enabled.setChecked(choice.enabled)
        self.strength.show_value(choice.strength)
        own = choice.text_strength
        self.text_strength.show_value(choice.strength if own is None else own)
        is_usable = row.fate in _USABLE
        # A card takes the next LoRA when one above it leaves.
        if own is not None or is_another:
            self.more.setChecked(own is not None)
        self.strength.setVisible(is_usable)
        self.more.setVisible(is_usable)
        self.text_strength.setVisible(is_usable and self.more.isChecked())
        self.reason.setText(breakable(reason))
        self.reason.setVisible(bool(reason))
        self.find_it.setVisible(row.fate is LoraFate.MISSING)
        self.another.setVisible(bool(row.alike))

    def show_words(self, row: LoraRow, is_used: Callable[[str], bool]) -> None:
        """Show the trigger words of a LoRA, and which of them the prompt has."""
        words = row.info.trigger_words if row.info is not None else ()
        self.words.show_words(words, is_used)
        self.words.setVisible(bool(words) and row.fate in _USABLE)

    def offer(self, settings: FewStepSettings | None) -> None:
        """Offer settings to use; None hides the offer."""
        self._settings = settings
        if settings is not None:
            self.use_settings.setText(few_steps_words(settings))
        self.use_settings.setVisible(settings is not None)

    def show_picture(self, image: QImage | None) -> None:
        """Show the picture of the file, or an empty frame."""
        self.thumbnail.show_layers(*([image] if image is not None else []))

    def _name_controls(self, name: str) -> None:
        self.enabled.setAccessibleName(self.tr("Use {name}").format(name=name))
        self.enabled.setToolTip(self.tr("Use it for the next pictures"))
        self.remove.set_name(self.tr("Remove {name}").format(name=name[:80]))
        self.find_it.setAccessibleName(self.tr("Find {name}").format(name=name))
        self.another.setAccessibleName(self.tr("Another file called {name}").format(name=name))
        for slider, text in (
            (self.strength, self.tr("Strength of {name}")),
            (self.text_strength, self.tr("Strength of {name} on the text")),
        ):
            slider.field.setAccessibleName(text.format(name=name))
            words = self.tr("{name}, slider").format(name=slider.field.accessibleName())
            slider.slider.setAccessibleName(words)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch()
        words.addWidget(self.name)
        words.addWidget(self.about)
        words.addStretch()
        head = QHBoxLayout()
        head.setSpacing(S)
        head.addWidget(self.enabled)
        head.addWidget(self.thumbnail)
        head.addLayout(words, 1)
        head.addWidget(self.remove)
        align((self.strength.label, self.text_strength.label))
        strengths = QHBoxLayout()
        strengths.setSpacing(0)
        strengths.addWidget(self.strength, 1)
        strengths.addWidget(self.more)
        # Below each other, although only the first has a button beside it.
        self.text_strength.setContentsMargins(0, 0, CONTROL_HEIGHT, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(head)
        column.addWidget(self.reason)
        leading = Qt.AlignmentFlag.AlignLeading
        column.addWidget(self.find_it, 0, leading)
        column.addWidget(self.another, 0, leading)
        column.addLayout(strengths)
        column.addWidget(self.text_strength)
        column.addWidget(self.words)
        column.addWidget(self.use_settings, 0, leading)

    def _connect(self) -> None:
        self.enabled.clicked.connect(self._on_enabled)
        self.strength.edited.connect(self._on_strength)
        self.text_strength.edited.connect(self._on_text_strength)
        self.strength.reset.connect(lambda: self._on_strength(FULL_STRENGTH))
        self.text_strength.reset.connect(lambda: self._on_text_strength(None))
        self.more.clicked.connect(self._on_more)
        self.remove.clicked.connect(self.removed)
        self.find_it.clicked.connect(self.wants_file)
        self.another.clicked.connect(self.wants_another)
        self.use_settings.clicked.connect(lambda: self.wants_settings.emit(self._settings))

    def _on_enabled(self, on: bool) -> None:
        self.changed.emit({"enabled": on})

    def _on_strength(self, value: float) -> None:
        self.changed.emit({"strength": value})

    def _on_text_strength(self, value: float | None) -> None:
        self.changed.emit({"text_strength": value})

    def _on_more(self, shown: bool) -> None:
        self.text_strength.setVisible(shown)
        if not shown:
            # Without a control of its own the text has the same strength again.
            self.changed.emit({"text_strength": None})
