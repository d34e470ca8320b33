"""The card of a second pass: how much larger, by which upscaler, how much is redrawn."""

from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.form.layer_kinds import bare_name, is_whole_path
from app.form.used_passes import fitting_pass
from app.notices.wording import worded
from app.paths import nearest_folder
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.model_files import ModelKind
from engine.api.second_passes import SecondPass, needs_file
from engine.api.upscaler_names import is_called
from engine.api.weight_suffixes import weights_name
from ui.files.chooser import FileChooser
from ui.files.kinds import MODEL_PATTERNS, UPSCALER_PATTERNS
from ui.listed_files import upscaler_files, usable
from ui.method_labels import method_name
from ui.panels.card_list import ListedCard
from ui.panels.file_choice import FileChoice
from ui.panels.labelled_row import LabelledRow
from ui.panels.option_rows import FieldWords
from ui.panels.second_pass_more import SecondPassMore, number_row
from ui.second_pass_labels import (
    lost_model_words,
    lost_upscaler_words,
    pass_title,
    result_words,
)
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, align, breakable, plain_label
from ui.widgets.late_section import LateSection
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField

# The ranges of the sliders; the fields accept more.
_USUAL_SCALE, _USUAL_STRENGTH = (1, 4), (0, 1)

Size = tuple[int, int]


class SecondPassCard(ListedCard):
    """A second pass of the form; it emits the user's changes and shows what it is told."""

    # Emits the changed SecondPass.
    changed = Signal(object)

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.setProperty("role", "card")
        self.name = ElidedLabel()
        self.remove = IconButton(theme, "close", self.tr("Do not enlarge the picture"))
        scale = DecimalField(*bounds_of(SecondPass, "scale"), step=0.25)
        self.scale = SliderField(self.tr("Factor"), scale, _USUAL_SCALE)
        self.upscaler = FileChoice(theme)
        ends = self.tr("keep"), self.tr("reinvent")
        strength = DecimalField(*bounds_of(SecondPass, "strength"), step=0.05)
        self.strength = SliderField(self.tr("Strength"), strength, _USUAL_STRENGTH, ends)
        self.result = plain_label("", "caption", wrap=True)
        steps = self.tr("Steps"), self.tr("Empty for as many as the first pass has.")
        self.steps = number_row("steps", FieldWords(*steps), theme, self._change)
        self.lost = plain_label("", "note", wrap=True)
        self.lost_model = plain_label("", "note", wrap=True)
        self._shown = SecondPass()
        self._upscaler = LabelledRow(self.tr("Upscaler"), self.upscaler)
        self.more = LateSection(theme, self.tr("More"), self._make_more)
        self._lay_out()
        self._connect()

    @property
    def folded(self) -> SecondPassMore:
        """The rows of the section “More”."""
        return self.more.whole

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        scale, strength = self.scale, self.strength
        first = self.remove, scale.slider, scale.field, self.upscaler
        then = strength.slider, strength.field, self.steps.control, self.more.head
        folded = self.more.present.controls if self.more.present is not None else ()
        return (*first, *then, *folded)

    def show_pass(self, shown: SecondPass, before: Size, after: Size, *, is_used: bool) -> None:
        """Show a pass over a picture of the size `before`, which then has the size `after`.

        One that is left out makes the picture no larger, and takes no time.
        """
        self._shown = shown
        self.name.setText(pass_title(shown, after))
        self.scale.show_value(shown.scale)
        self.scale.setEnabled(shown.width is None and shown.height is None)
        self.strength.show_value(shown.strength)
        self.steps.show_value(shown.steps)
        self._show_checkpoint()
        self._show_upscalers(shown)
        self.result.setVisible(is_used)
        if is_used:
            seconds = self._session.picture_time.of_pass(shown, *after)
            self.result.setText(result_words(before, after, seconds))
        self._summarise(self._sent())

    def _sent(self) -> SecondPass:
        """Return the pass as it is made, without a method that its model lacks."""
        features = self._session.generation.features_of(self._shown.checkpoint)
        return fitting_pass(self._shown, features)

    def _make_more(self) -> SecondPassMore:
        more = SecondPassMore(self._session, self._theme, self._change)
        more.checkpoint.wants_file.connect(self._choose_checkpoint)
        return more

    def _on_made(self) -> None:
        self._show_checkpoint()
        self.controls_changed.emit()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(XS)
        head.addWidget(self.name, 1)
        head.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(S, XS, S, S)
        column.setSpacing(S)
        column.addLayout(head)
        column.addWidget(self.scale)
        column.addWidget(self._upscaler)
        column.addWidget(self.lost)
        for row in (self.strength, self.steps, self.result, self.lost_model, self.more):
            column.addWidget(row)
        own = self.scale.label, self.strength.label, self.steps.label
        align((*own, self._upscaler.label))

    def _connect(self) -> None:
        self.remove.clicked.connect(self.removed)
        self.scale.edited.connect(partial(self._change, "scale"))
        self.scale.reset.connect(partial(self._change, "scale", SecondPass().scale))
        self.strength.edited.connect(partial(self._change, "strength"))
        self.strength.reset.connect(partial(self._change, "strength", SecondPass().strength))
        self.more.made.connect(self._on_made)
        self.upscaler.wants_file.connect(self._choose_upscaler)
        self.upscaler.picked.connect(partial(self._change, "upscaler"))

    def _change(self, name: str, value: object) -> None:
        self.changed.emit(msgspec.structs.replace(self._shown, **{name: value}))

    def _show_upscalers(self, shown: SecondPass) -> None:
        """Show the upscalers, and tell of one that is missing or broken."""
        session, models, stated = self._session, self._session.models.store.models, shown.upscaler
        place: str | None = stated
        if needs_file(shown):
            place = self._place(stated, shown.upscaler_digest, ModelKind.UPSCALER)
        chosen = place or stated
        self.upscaler.show_files(lambda: upscaler_files(session, chosen), chosen, models, chosen)
        info = session.models.store.info(chosen)
        problem = worded(info.problem) if info is not None else ""
        self._tell(self.lost, lost_upscaler_words(stated) if place is None else problem)

    def _show_checkpoint(self) -> None:
        """Show the model and the other folded fields; tell of a model that is in no folder."""
        shown = self._shown
        stated = place = shown.checkpoint
        if stated is not None:
            place = self._place(stated, shown.checkpoint_digest, ModelKind.CHECKPOINT)
        if self.more.present is not None:
            file = place or stated
            features = self._session.generation.features_of(file)
            self.more.present.show_pass(self._sent(), file, features)
        is_lost = stated is not None and place is None
        self._tell(self.lost_model, lost_model_words(str(stated)) if is_lost else "")

    def _place(self, stated: str, digest: str | None, kind: ModelKind) -> str | None:
        """Return where a stated file is, by its path or by its name; None if it is nowhere."""
        session = self._session
        if is_whole_path(stated):
            return session.models.moved.place(stated, digest)
        if not session.models.store.is_listed:
            return stated
        files = usable(session, kind)
        if kind is ModelKind.UPSCALER:
            named = (file.path for file in files if is_called(file.path, stated))
        else:
            wanted = bare_name(stated)
            named = (file.path for file in files if bare_name(file.path) == wanted)
        return next(named, None)

    def _tell(self, label: QLabel, words: str) -> None:
        label.setText(breakable(words))
        label.setVisible(bool(words))

    def _choose_upscaler(self) -> None:
        path = self._ask(self.tr("An upscaler"), "upscale_models", UPSCALER_PATTERNS)
        if path is not None:
            self._change("upscaler", path)

    def _choose_checkpoint(self) -> None:
        path = self._ask(self.tr("A model for this pass"), "", MODEL_PATTERNS)
        if path is not None:
            self._change("checkpoint", path)

    def _ask(self, title: str, folder: str, endings: str) -> str | None:
        below = nearest_folder(self._session.checkpoints.models / folder)
        name = FileChooser.open_file(self, title, below, endings)
        return str(Path(name)) if name else None

    def _summarise(self, shown: SecondPass) -> None:
        """Tell in the folded heading what differs from the first pass."""
        words: list[str] = [
            method_name(method) for method in (shown.sampler, shown.schedule) if method
        ]
        if shown.checkpoint is not None:
            words.append(weights_name(shown.checkpoint))
        if shown.prompt is not None or shown.negative_prompt is not None:
            words.append(self.tr("prompts of its own"))
        if shown.tile is not None:
            words.append(self.tr("in tiles"))
        self.more.head.tell(", ".join(words))
