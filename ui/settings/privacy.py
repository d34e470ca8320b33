"""The section of the settings on privacy: nothing is sent, and which machines were ever asked."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QShowEvent

from app.downloads.contacts import Contact
from app.session import Session
from ui.settings.labels import moment
from ui.settings.rows import Section, SettingRow
from ui.widgets.labels import breakable, plain_label

_MOST_SHOWN = 100
translate = QCoreApplication.translate


class HostsRow(SettingRow):
    """The machines that were ever asked for anything, read whenever the row comes into view."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.hosts = plain_label("", wrap=True)
        super().__init__(
            translate("Settings", "Machines that were asked"),
            translate(
                "Settings",
                "Safelight connects to another machine only when you ask it for a download or for"
                " updates. It keeps the names of those machines here.",
            ),
            below=self.hosts,
            words=translate("Settings", "privacy network internet host connection telemetry"),
        )

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Read the machines anew."""
        super().showEvent(event)
        contacts = self._session.contacts
        self._session.background.look(lambda: contacts.all, self._show)

    def _show(self, contacts: tuple[Contact, ...]) -> None:
        none = translate("Settings", "None so far.")
        lines = [_words(contact) for contact in contacts[:_MOST_SHOWN]]
        self.hosts.setText("\n".join(lines) or none)


def privacy_section(session: Session) -> Section:
    """Return the section of the page."""
    return Section(translate("Settings", "Privacy"), _rows(session))


def _rows(session: Session) -> Iterator[SettingRow]:
    yield SettingRow(
        translate("Settings", "Nothing is sent"),
        translate(
            "Settings",
            "Your prompts, pictures, models and settings stay on this computer. Safelight counts"
            " nothing, reports nothing, and works without any network.",
        ),
        words=translate("Settings", "privacy telemetry tracking"),
    )
    yield SettingRow(
        translate("Settings", "What is kept of prompts"),
        translate(
            "Settings",
            "Pictures have their prompts in them. So that a prompt need not be read again, the"
            " cache also keeps the numbers that a model made of the last ones, without their"
            " words. To delete them, clear the cache in the section on devices.",
        ),
        words=translate("Settings", "privacy cache prompt text"),
    )
    yield HostsRow(session)


def _words(contact: Contact) -> str:
    words = (
        translate("Settings", "{host}: first on {first}, last on {last}")
        if contact.first != contact.last
        else translate("Settings", "{host}: on {first}")
    )
    return words.format(
        host=breakable(contact.host), first=moment(contact.first), last=moment(contact.last)
    )
