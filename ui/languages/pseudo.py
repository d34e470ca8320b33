"""A pseudo-language: English between marks, longer, and from right to left."""

from PySide6.QtCore import QCoreApplication, Qt, QTranslator
from PySide6.QtGui import QGuiApplication


class PseudoTranslator(QTranslator):
    """Marks every text of ours; Qt's own words stay."""

    def isEmpty(self) -> bool:  # noqa: N802 (Qt's name)
        """Return False: every text is translated."""
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        """Return a text between marks, as much longer as German is."""
        if context.startswith("Q") and context[1:2].isupper():
            return text
        return f"⟦{text}{'·' * (len(text) // 4)}⟧"


def use_pseudo_language(application: QCoreApplication) -> None:
    """Translate everything into the pseudo-language, and mirror the window."""
    application.installTranslator(PseudoTranslator(application))
    if isinstance(application, QGuiApplication):
        application.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
