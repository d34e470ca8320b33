"""The user's declarations about a checkpoint, where its file is silent or wrong."""

import msgspec
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.request import DECLARABLE_PREDICTIONS
from engine.api.values import PredictionType
from ui.checkpoint_labels import family_about, prediction_about, prediction_label
from ui.choice_labels import automatic
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label

# The place of the variants among the rows.
_VARIANT_ROW = 1


class DeclarationPanel(QWidget):
    """Lists of families, variants, prediction types and noise levels; a choice applies at once.

    The first entry of each, "Auto", names what was found in the file.
    """

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        boxes = (ChoiceBox(theme) for _ in range(4))
        self.family, self.variant, self.prediction, self.levels = boxes
        self.labels: list[QLabel] = []
        self._fill()
        self._lay_out()
        for box in (self.family, self.variant, self.prediction, self.levels):
            box.activated.connect(self._say)
        session.checkpoints.families_changed.connect(self._add_families)
        for signal in (
            session.checkpoints.families_changed,
            session.checkpoints.looked,
            session.generation.declaration_changed,
            session.generation.checkpoint_changed,
        ):
            signal.connect(self._refresh)
        self._refresh()

    def _fill(self) -> None:
        as_file = automatic()
        self.family.addItem(as_file, None)
        self._add_families()
        self.prediction.addItem(as_file, None)
        for prediction in DECLARABLE_PREDICTIONS:
            about = prediction_about(prediction)
            self.prediction.add_choice(prediction_label(prediction), prediction.value, about)
        self.levels.addItem(as_file, None)
        self.levels.add_choice(
            self.tr("Zero-terminal SNR"),
            True,
            self.tr("The first step starts from pure noise: most v models were trained so."),
        )
        self.levels.add_choice(
            self.tr("Standard"), False, self.tr("A trace of the picture is in the first step.")
        )

    def _add_families(self) -> None:
        """Offer the engine's families, by their titles."""
        for family in self._session.checkpoints.families:
            row = self.family.findData(family.name)
            if row < 0:
                self.family.add_choice(
                    family.title, family.name, family_about(self._session, family.name)
                )
            else:
                self.family.setItemText(row, family.title)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(S)
        grid.setColumnStretch(1, 1)
        rows = (
            (self.tr("Family"), self.family),
            (self.tr("Variant"), self.variant),
            (self.tr("Prediction"), self.prediction),
            (self.tr("Noise levels"), self.levels),
        )
        for row, (name, box) in enumerate(rows):
            self.labels.append(buddy_label(name, box))
            grid.addWidget(self.labels[-1], row, 0)
            grid.addWidget(box, row, 1)

    def _say(self) -> None:
        words = self._session.generation.declaration
        prediction = self.prediction.currentData()
        family = self.family.currentData()
        # The variants of another family are others.
        keeps = family == words.override.family
        override = msgspec.structs.replace(
            words.override,
            family=family,
            variant=self.variant.currentData() if keeps else None,
            prediction=None if prediction is None else PredictionType(prediction),
        )
        zero = self.levels.currentData()
        declared = msgspec.structs.replace(words, override=override, zero_terminal_snr=zero)
        self._session.checkpoint.declare(declared)

    def _refresh(self, *_: object) -> None:
        words = self._session.generation.declaration
        override = words.override
        if override.family is not None and self.family.findData(override.family) < 0:
            self.family.addItem(self._title(override.family), override.family)
        self._offer_variants()
        for box, value in (
            (self.family, override.family),
            (self.variant, override.variant),
            (self.prediction, override.prediction and override.prediction.value),
            (self.levels, words.zero_terminal_snr),
        ):
            box.setCurrentIndex(max(0, box.findData(value)))
        self._show_found()

    def _offer_variants(self) -> None:
        """List the variants of the checkpoint's family; hidden where it has none to choose from."""
        override = self._session.generation.declaration.override
        answer = self._session.checkpoints.answer(self._session.generation.checkpoint)
        found = answer.family if isinstance(answer, CheckpointInfo) else ""
        family, known = override.family or found, self._session.checkpoints.families
        variants = next((entry.variants for entry in known if entry.name == family), ())
        offered: list[tuple[str, str | None]] = [(automatic(), None)]
        offered += [(title, name) for name, title in variants]
        if override.variant is not None and override.variant not in dict(variants):
            offered.append((override.variant, override.variant))
        listed = [self.variant.itemData(row) for row in range(self.variant.count())]
        # Lists are made anew for other variants only: screen readers keep the rows of an old one.
        if listed != [name for _, name in offered]:
            self.variant.clear()
            for title, name in offered:
                self.variant.addItem(title, name)
        shown = self.variant.count() > 1
        self.variant.setVisible(shown)
        self.labels[_VARIANT_ROW].setVisible(shown)

    def _show_found(self) -> None:
        """Name the file's own family and prediction beside "Auto", unless they are overridden."""
        override = self._session.generation.declaration.override
        answer = self._session.checkpoints.answer(self._session.generation.checkpoint)
        family = prediction = variant = ""
        if isinstance(answer, CheckpointInfo):
            variant = "" if override.variant else self._variant_title(answer)
            family = "" if override.family else self._title(answer.family)
            found = prediction_label(PredictionType(answer.prediction))
            prediction = "" if override.prediction else found
        told = (self.family, family), (self.variant, variant), (self.prediction, prediction)
        for box, what in told:
            box.setItemText(0, " · ".join(filter(None, (automatic(), what))))

    def _variant_title(self, answer: CheckpointInfo) -> str:
        row = self.variant.findData(answer.variant)
        return self.variant.itemText(row) if row > 0 else ""

    def _title(self, family: str) -> str:
        return self._session.checkpoints.family_title(family)
