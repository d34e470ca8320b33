"""A pseudo-language: English with accents between marks, longer, and from right to left.

Letters without an accent in the window are of a text that nothing translates.
"""

import re

from PySide6.QtCore import QCoreApplication, Qt, QTranslator
from PySide6.QtGui import QGuiApplication

_ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "åƀçðéƒĝĥîĵķļɱñöþɋŕšţûṽŵẋýžÅƁÇÐÉƑĜĤÎĴĶĻḾÑÖÞɊŔŠŢÛṼŴẊÝŽ",
)
# Places for values, and patterns of file names in dialogs.
_KEPT = re.compile(r"(\{[^}]*\}|%n|%\d|\*\.\w+)")


class PseudoTranslator(QTranslator):
    """Marks every text of ours; Qt's own words stay."""

    def isEmpty(self) -> bool:  # noqa: N802 (Qt's name)
        """Return False: every text is translated."""
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        """Return a text with accents between marks, as much longer as German is."""
        if context.startswith("Q") and context[1:2].isupper():
            return text
        parts = _KEPT.split(text)
        accented = "".join(
            part if number % 2 else part.translate(_ACCENTED) for number, part in enumerate(parts)
        )
        return f"⟦{accented}{'·' * (len(text) // 4)}⟧"


def use_pseudo_language(application: QCoreApplication) -> None:
    """Translate everything into the pseudo-language, and mirror the window."""
    application.installTranslator(PseudoTranslator(application))
    if isinstance(application, QGuiApplication):
        application.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
