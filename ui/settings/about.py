"""The section of the settings about Safelight: its version, all licences, and a report of facts."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from app.diagnostics import collect
from app.licences import Licence, licences
from app.session import Session
from engine.durable import replace_file
from ui.files.chooser import FileChooser
from ui.settings.rows import CONTROL_WIDTH, Section, SettingRow
from ui.settings.sections import file_row
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox

_TEXT_HEIGHT = 220
translate = QCoreApplication.translate


class LicencesRow(SettingRow):
    """The parts of Safelight with their licences, read when the row first comes into view."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self._session = session
        self._licences: tuple[Licence, ...] = ()
        self._was_asked = False
        self.parts = ChoiceBox(theme)
        self.parts.setMinimumWidth(CONTROL_WIDTH)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(_TEXT_HEIGHT)
        self.text.setAccessibleName(translate("Settings", "Text of the licence"))
        super().__init__(
            translate("Settings", "Licences"),
            translate("Settings", "Safelight is free software, and made of the work of others."),
            [self.parts],
            below=self.text,
            words=translate("Settings", "licence license copyright open source"),
        )
        self.parts.currentIndexChanged.connect(self._show)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Read the licences."""
        super().showEvent(event)
        if not self._was_asked:
            self._was_asked = True
            self._session.background.run(licences, self._take)

    def _take(self, found: tuple[Licence, ...]) -> None:
        self._licences = found
        for package in found:
            licence = package.licence or translate("Settings", "see its text")
            self.parts.addItem(f"{package.name} {package.version} · {licence}")

    def _show(self, row: int) -> None:
        package = self._licences[row]
        missing = translate("Settings", "Its package has no text of the licence.")
        self.text.setPlainText(package.text or missing)


class ReportRow(SettingRow):
    """The buttons that copy or save a report of facts, without what is private."""

    def __init__(self, session: Session, logs: Path) -> None:
        self._session, self._logs = session, logs
        self.copy = QPushButton(translate("Settings", "Copy"))
        self.copy.setAccessibleName(translate("Settings", "Copy the report"))
        self.save = QPushButton(translate("Settings", "Save…"))
        self.save.setAccessibleName(translate("Settings", "Save the report"))
        super().__init__(
            translate("Settings", "Report for help"),
            translate(
                "Settings",
                "Versions, devices, changed settings and the last lines of the logs. Your name,"
                " your home folder and your prompts are left out. Nothing is sent: read it, then"
                " give it to whom you like.",
            ),
            [self.copy, self.save],
            words=translate("Settings", "diagnostics logs bug problem support"),
        )
        self.copy.clicked.connect(self._on_copy)
        self.save.clicked.connect(self._on_save)

    def write(self, path: Path) -> None:
        """Write the report into a file, in the background."""
        facts = collect(self._session, self._logs)

        def write() -> str:
            try:
                replace_file(path, facts.text().encode("utf-8", "replace"))
            except OSError as error:
                return error.strerror or str(error)
            return ""

        self._session.background.run(write, lambda problem: self._tell_saved(path, problem))

    def _on_copy(self) -> None:
        facts = collect(self._session, self._logs)

        def copied(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self._session.notices.tell(translate("Settings", "The report is in the clipboard."))

        self._session.background.run(facts.text, copied)

    def _on_save(self) -> None:
        title = translate("Settings", "Save the report")
        name = FileChooser.save_file(
            self, title, str(Path.home() / "safelight-report.txt"), "*.txt"
        )
        if name:
            self.write(Path(name))

    def _tell_saved(self, path: Path, problem: str) -> None:
        words = (
            translate("Settings", "The report cannot be saved: {reason}.").format(reason=problem)
            if problem
            else translate("Settings", "The report is saved as {path}.").format(path=path)
        )
        self._session.notices.tell(words)


def about_section(session: Session, theme: Theme) -> Section:
    """Return the section of the page."""
    return Section(translate("Settings", "About"), _rows(session, theme))


def _rows(session: Session, theme: Theme) -> Iterator[SettingRow]:
    yield SettingRow(
        translate("Settings", "Safelight {version}").format(version=version("safelight")),
        translate("Settings", "Develops latent images on your own computer."),
        words=translate("Settings", "version about"),
    )
    yield ReportRow(session, session.logs)
    yield LicencesRow(session, theme)
    yield file_row(session.settings, session.notices)
