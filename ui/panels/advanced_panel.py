"""The part of the form that folds: what most pictures leave to the checkpoint and the engine."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.form.options import FASTER_GUIDANCE, OptionGroup
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest, GuidanceOptions
from ui.advanced_labels import advanced_summary, declared_summary, group_summary
from ui.bind import bind_shown
from ui.labels import gain_words
from ui.panels.declaration_panel import DeclarationPanel
from ui.panels.device_choice import DeviceChoice
from ui.panels.method_panel import MethodPanel
from ui.panels.option_rows import OptionRows
from ui.panels.parts_panel import OTHER_PARTS, VAE, PartsPanel
from ui.panels.refiner_panel import RefinerPanel
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import align, buddy_label, plain_label
from ui.widgets.number_field import DecimalField, WholeField
from ui.widgets.section import Section
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox

# The ranges of the sliders; the fields accept more.
_USUAL_STEPS, _USUAL_GUIDANCE = (1, 60), (1, 15)
ADVANCED = "advanced"
# Fields of the form that change at each key, and nothing here follows from.
_TEXTS = frozenset({"prompt", "negative_prompt"})


class AdvancedPanel(QWidget):
    """The advanced settings; every heading says what differs from the defaults below it."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._state, self._theme = session, session.generation, theme
        steps = WholeField(*bounds_of(GenerateRequest, "steps").whole)
        self.steps = SliderField(self.tr("Steps"), steps, _USUAL_STEPS)
        guidance = DecimalField(*bounds_of(GenerateRequest, "guidance"), step=0.5)
        self.guidance = SliderField(self.tr("Guidance"), guidance, _USUAL_GUIDANCE)
        self.faster = _Switch(
            self.tr("Faster guidance"),
            self.tr(
                "Guides only the first half of the steps, for much the same picture. The gain is "
                "measured while a picture is made so."
            ),
        )
        self.method = MethodPanel(self._state, theme)
        self.vae = PartsPanel(session, theme, (VAE,))
        self.parts = PartsPanel(session, theme, OTHER_PARTS)
        self.refiner = RefinerPanel(session, theme)
        self.declaration = DeclarationPanel(session, theme)
        self.device = DeviceChoice(session, theme)
        self.groups = {
            group: OptionRows(self._state, group, theme)
            for group in OptionGroup
            if group is not OptionGroup.MASK
        }
        self.reset = QPushButton(self.tr("Reset to model defaults"))
        self.reset.setProperty("role", "link")
        self.sections: dict[str, Section] = {}
        self.section = self._lay_out()
        self._bind()
        self._refresh()

    def _lay_out(self) -> Section:
        group = self.groups
        column = _column(self)
        advanced, content = self._section(column, ADVANCED, self.tr("Advanced"))

        def section(name: str, title: str, *rows: QWidget) -> None:
            _, inner = self._section(content, name, title)
            _fill(inner, *rows)

        _fill(content, self.steps, self.guidance, self.faster, self.method)
        section("method", self.tr("Sampler options"), group[OptionGroup.METHOD])
        _fill(content, group[OptionGroup.TEXT], self.vae, self.refiner)
        section("guidance", self.tr("Guidance options"), group[OptionGroup.GUIDANCE])
        section("denoiser", self.tr("Seamless edges and FreeU"), group[OptionGroup.DENOISER])
        section("noise", self.tr("Variations of a seed"), group[OptionGroup.NOISE])
        section("model", self.tr("Parts and kind"), self.parts, self.declaration)
        section("sizes", self.tr("Sizes it is told"), group[OptionGroup.SIZES])
        section("machine", self.tr("This computer"), self.device, group[OptionGroup.MACHINE])
        self._align()
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeading)
        return advanced

    def _align(self) -> None:
        rows = [label for rows in self.groups.values() for label in rows.labels]
        parts = self.vae.labels + self.parts.labels
        own = (self.steps.label, self.guidance.label, self.faster.label, self.device.label)
        others = self.method.labels + self.refiner.labels + self.declaration.labels
        align((*own, *rows, *parts, *others))

    def _section(self, where: QVBoxLayout, name: str, title: str) -> tuple[Section, QVBoxLayout]:
        """Add an empty section; return it with the column of its content."""
        # A widget around the content, as groups of options show themselves.
        content = QWidget()
        section = self.sections[name] = Section(self._theme, title, content)
        where.addWidget(section)
        section.open(name in self._session.memory.layout.sections)
        section.folded.connect(self._on_folded)
        return section, _column(content)

    def _on_folded(self) -> None:
        names = tuple(name for name, section in self.sections.items() if section.is_open)
        self._session.memory.keep_layout(sections=names)

    def _bind(self) -> None:
        state, changed = self._state, self._state.effective_changed
        bind_shown(self.steps, changed, lambda: state.effective.steps, self.steps.show_value)
        bind_shown(
            self.guidance, changed, lambda: state.effective.guidance, self.guidance.show_value
        )
        self.steps.edited.connect(self._on_steps)
        self.guidance.edited.connect(self._on_guidance)
        # The checkpoint's own values.
        self.steps.reset.connect(lambda: self._on_steps(None))
        self.guidance.reset.connect(lambda: self._on_guidance(None))
        self.faster.box.clicked.connect(self._on_faster)
        self.reset.clicked.connect(self._session.changes.reset)
        state.changed.connect(self._on_form)
        self._session.pace.changed.connect(self._refresh)

    def _on_form(self, names: frozenset[str]) -> None:
        if names - _TEXTS:
            self._refresh()

    def _refresh(self) -> None:
        state = self._state
        self.faster.box.setChecked(state.guidance_options.range == FASTER_GUIDANCE)
        self.faster.setVisible(state.sees_negative)
        self.faster.tell(gain_words(self._session.pace.gain(str(state.checkpoint))))
        self.reset.setVisible(state.has_choices)
        self.section.head.tell(advanced_summary(state))
        for name, group in (
            ("method", OptionGroup.METHOD),
            ("guidance", OptionGroup.GUIDANCE),
            ("denoiser", OptionGroup.DENOISER),
            ("noise", OptionGroup.NOISE),
            ("sizes", OptionGroup.SIZES),
        ):
            section = self.sections[name]
            section.head.tell(group_summary(state, group))
            section.setVisible(not self.groups[group].is_empty)
        self.sections["machine"].head.tell(group_summary(state, OptionGroup.MACHINE))
        self.sections["model"].head.tell(declared_summary(state, OTHER_PARTS))

    def _on_steps(self, steps: int | None) -> None:
        self._state.steps = steps

    def _on_guidance(self, guidance: float | None) -> None:
        self._state.guidance = guidance

    def _on_faster(self, on: bool) -> None:
        options = self._state.guidance_options
        span = FASTER_GUIDANCE if on else GuidanceOptions().range
        self._state.guidance_options = msgspec.structs.replace(options, range=span)


class _Switch(QWidget):
    """A tick box with its name before it; a click on the name ticks it, too."""

    def __init__(self, name: str, about: str) -> None:
        super().__init__()
        self.box, self._about = TickBox(), about
        self.label, self.words = buddy_label(name, self.box), plain_label("", "caption", wrap=True)
        self.setToolTip(about)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(self.box)
        row.addWidget(self.words, 1)

    def tell(self, words: str) -> None:
        """Show words beside the box."""
        self.words.setText(words)
        self.box.setAccessibleDescription(f"{words} {self._about}")


def _column(whole: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(S)
    return column


def _fill(column: QVBoxLayout, *widgets: QWidget) -> None:
    for widget in widgets:
        column.addWidget(widget)
