"""The rows of the form's advanced settings; those of inner sections are made as they open."""

from functools import partial

import msgspec
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.form.options import FASTER_GUIDANCE, GROUPS, OptionGroup, is_shown
from app.form.session_memory import SessionMemory
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest, GuidanceOptions
from ui.advanced_labels import declared_summary, group_summary
from ui.bind import bind_shown
from ui.checkpoint_labels import part_label
from ui.labels import gain_words
from ui.option_labels import option_name
from ui.panels.declaration_panel import DeclarationPanel
from ui.panels.device_choice import DeviceChoice
from ui.panels.method_panel import MethodPanel
from ui.panels.option_rows import OptionRows
from ui.panels.parts_panel import OTHER_PARTS, VAE, PartsPanel
from ui.panels.refiner_panel import RefinerPanel
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import align, buddy_label, plain_label
from ui.widgets.late_section import LateSection
from ui.widgets.number_field import DecimalField, WholeField
from ui.widgets.section import Section
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox

# The ranges of the sliders; the fields accept more.
_USUAL_STEPS, _USUAL_GUIDANCE = (1, 60), (1, 15)


class AdvancedRows(QWidget):
    """Rows and folded sections; the heading of each section says what differs from the defaults."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
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
        self.texts = OptionRows(self._state, OptionGroup.TEXT, theme)
        self.vae = PartsPanel(session, theme, (VAE,))
        self.refiner = RefinerPanel(session, theme, self)
        self.groups = {
            group: LateSection(theme, title, partial(OptionRows, self._state, group, theme))
            for group, title in (
                (OptionGroup.METHOD, self.tr("Sampler options")),
                (OptionGroup.GUIDANCE, self.tr("Guidance options")),
                (OptionGroup.DENOISER, self.tr("Seamless edges and FreeU")),
                (OptionGroup.NOISE, self.tr("Variations of a seed")),
                (OptionGroup.SIZES, self.tr("Sizes it is told")),
            )
        }
        model = partial(ModelRows, session, theme)
        self.model = LateSection(theme, self.tr("Parts and kind"), model)
        machine = partial(MachineRows, session, theme)
        self.machine = LateSection(theme, self.tr("This computer"), machine)
        groups = {str(group): section for group, section in self.groups.items()}
        # By the names under which they are kept.
        self.sections = {**groups, "model": self.model, "machine": self.machine}
        self._lay_out()
        self._bind()
        self.refresh()

    def refresh(self) -> None:
        """Show the form's values in the headings, and in rows that do not follow it themselves."""
        state = self._state
        self.faster.box.setChecked(state.guidance_options.range == FASTER_GUIDANCE)
        self.faster.setVisible(state.sees_negative)
        self.faster.tell(gain_words(self._session.pace.gain(str(state.checkpoint))))
        for group, section in self.groups.items():
            section.head.tell(group_summary(state, group))
            section.setVisible(any(is_shown(state, option) for option in GROUPS[group]))
        self.machine.head.tell(group_summary(state, OptionGroup.MACHINE))
        self.model.head.tell(declared_summary(state, OTHER_PARTS))

    def _lay_out(self) -> None:
        groups = self.groups
        own = self.steps, self.guidance, self.faster, self.method
        others = self.texts, self.vae, self.refiner
        guidance, denoiser = groups[OptionGroup.GUIDANCE], groups[OptionGroup.DENOISER]
        noise, sizes = groups[OptionGroup.NOISE], groups[OptionGroup.SIZES]
        sections = guidance, denoiser, noise, self.model, sizes, self.machine
        _stack(self, *own, groups[OptionGroup.METHOD], *others, *sections)
        self._align()
        for name, section in self.sections.items():
            section.made.connect(self._align)
            keep_open(section, name, self._session.memory)
        QTimer.singleShot(0, self, self._open_next)

    def _open_next(self) -> None:
        """Open the next section that a person left open; all in one turn would take too long."""
        kept = self._session.memory.layout.sections
        for name, section in self.sections.items():
            if name in kept and not section.is_open:
                section.open()
                QTimer.singleShot(0, self, self._open_next)
                return

    def _align(self) -> None:
        """Align the names of all rows, also with those of rows that are not there yet."""
        made = (section.present for section in self.sections.values())
        folded = [label for rows in made if rows is not None for label in rows.labels]
        own = self.steps.label, self.guidance.label, self.faster.label
        others = *self.method.labels, *self.texts.labels, *self.vae.labels, *self.refiner.labels
        options = (*self.groups, OptionGroup.MACHINE)
        names = [option_name(option) for group in options for option in GROUPS[group]]
        align((*own, *others, *folded), (*names, *map(part_label, OTHER_PARTS)))

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
        self._session.pace.changed.connect(self.refresh)

    def _on_steps(self, steps: int | None) -> None:
        self._state.steps = steps

    def _on_guidance(self, guidance: float | None) -> None:
        self._state.guidance = guidance

    def _on_faster(self, on: bool) -> None:
        options = self._state.guidance_options
        span = FASTER_GUIDANCE if on else GuidanceOptions().range
        self._state.guidance_options = msgspec.structs.replace(options, range=span)


class ModelRows(QWidget):
    """The files of the checkpoint's parts, and what is declared about it."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.parts = PartsPanel(session, theme, OTHER_PARTS)
        self.declaration = DeclarationPanel(session, theme)
        self.labels = [*self.parts.labels, *self.declaration.labels]
        _stack(self, self.parts, self.declaration)


class MachineRows(QWidget):
    """The device that computes, and the options of this computer."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.device = DeviceChoice(session, theme)
        self.options = OptionRows(session.generation, OptionGroup.MACHINE, theme)
        self.labels = [self.device.label, *self.options.labels]
        _stack(self, self.device, self.options)


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


def keep_open(section: Section, name: str, memory: SessionMemory) -> None:
    """Keep whether a person leaves a section open, for the next start."""

    def keep(is_open: bool) -> None:
        others = tuple(other for other in memory.layout.sections if other != name)
        memory.keep_layout(sections=(*others, name) if is_open else others)

    section.folded.connect(keep)


def _stack(whole: QWidget, *rows: QWidget) -> None:
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(S)
    for row in rows:
        column.addWidget(row)
