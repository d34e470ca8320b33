"""A model to begin with: what it is good at, its licence and size, and a button to look it up."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app.engine.speed import PictureKind
from app.library.first_models import FirstModel
from app.queue.drawing import Drawing
from app.session import Session
from engine.api.model_files import ModelKind
from ui.labels import duration, file_size
from ui.model_labels import kind_label
from ui.theme.metrics import XS, M, S
from ui.widgets.labels import plain_label

translate = QCoreApplication.translate


class FirstCard(QFrame):
    """A row about a model; its button only fills in the link and asks the site about it."""

    wanted = Signal(str)

    def __init__(self, session: Session, model: FirstModel, *, fits: bool) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.get = QPushButton(self.tr("Look it up"))
        self.get.setAccessibleName(self.tr("Look up {title}").format(title=model.title))
        self.get.clicked.connect(lambda: self.wanted.emit(model.url))
        facts = [kind_label(model.kind), *first_model_facts(session, model)]
        words = QVBoxLayout()
        words.setSpacing(XS)
        words.addWidget(plain_label(model.title, "heading"))
        words.addWidget(plain_label(first_model_words(model), wrap=True))
        words.addWidget(plain_label(" · ".join(facts), "caption", wrap=True))
        if not fits:
            text = self.tr("Larger than is comfortable in this computer's memory.")
            words.addWidget(plain_label(text, "caption", wrap=True))
        low = QHBoxLayout()
        low.addWidget(LicenceLink(model))
        low.addStretch()
        words.addLayout(low)
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S, M, S)
        row.setSpacing(M)
        row.addLayout(words, 1)
        row.addWidget(self.get)


class LicenceLink(QPushButton):
    """A link with the name of a model's licence, which opens its text in the web browser."""

    def __init__(self, model: FirstModel | None = None) -> None:
        super().__init__()
        self._address = ""
        self.setProperty("role", "link")
        self.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._address)))
        if model is not None:
            self.show_model(model)

    def show_model(self, model: FirstModel) -> None:
        """Name the licence of a model."""
        self._address = model.licence_url
        self.setText(self.tr("Licence: {name}").format(name=model.licence))
        self.setToolTip(model.licence_url)


def first_model_words(model: FirstModel) -> str:
    """Return the sentence on what a model is good at."""
    return translate("first_models", model.about)


def first_model_facts(session: Session, model: FirstModel) -> list[str]:
    """Return a model's family, its size, and the time of a picture once it is known."""
    size = translate("FirstCard", "about {size}").format(size=file_size(model.size))
    family = session.checkpoints.family_title(model.family)
    # Before the engine has told the families' titles there is only a name of ours.
    facts = [size] if family == model.family else [family, size]
    seconds = first_model_seconds(session, model)
    if seconds is not None:
        text = translate("FirstCard", "about {time} per picture here")
        facts.append(text.format(time=duration(seconds)))
    return facts


def first_model_seconds(session: Session, model: FirstModel) -> float | None:
    """Return the time of a picture: as with a model of the family, else by the device's trial.

    The starter is of a family, too, but has a hundredth of its weights.
    """
    predictions = model.steps * (1 + model.guided)
    for other in session.models.store.models:
        is_alike = model.family in other.families and other.kind is ModelKind.CHECKPOINT
        if is_alike and Path(other.path) != session.checkpoints.starter:
            drawing = Drawing(model.side, model.side, model.steps, predictions)
            seconds = session.pace.seconds(other.path, (drawing,))
            if seconds is not None:
                return seconds
    kind = PictureKind(model.parameters, model.side, model.side, predictions)
    return session.picture_time.of(kind)
