"""Sentences that screen readers say of what happens elsewhere than where the focus is."""

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def say(widget: QWidget, sentence: str, *, urgent: bool = False) -> None:
    """Have a sentence about a widget said: at once if it is urgent, else when others are said."""
    politeness = QAccessible.AnnouncementPoliteness
    said = QAccessibleAnnouncementEvent(widget, sentence)
    said.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(said)
