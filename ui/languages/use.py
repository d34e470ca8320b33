"""The language of the window: its catalogue, Qt's own words, and how numbers are written."""

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.settings.values import Language

# Tests and translators look at the window in the pseudo-language by this variable.
VARIABLE = "SAFELIGHT_LANGUAGE"
PSEUDO = "pseudo"
# The way of writing where the system has none (LANG=C): Qt's for that writes a day as 29 11 2026.
_PLAIN = "en_GB"


def use_language(
    application: QCoreApplication, chosen: Language, environment: Mapping[str, str] = os.environ
) -> None:
    """Give the window its words: those chosen, or what SAFELIGHT_LANGUAGE says.

    Widgets that exist already keep theirs. A language without a catalogue is shown in English.
    """
    forced = environment.get(VARIABLE, "")
    if forced == PSEUDO:
        # Here, as nobody else needs it.
        from ui.languages.pseudo import use_pseudo_language

        use_pseudo_language(application)
        return
    system = QLocale.system()
    code = forced or chosen.value
    if system.language() is QLocale.Language.C:
        QLocale.setDefault(QLocale(_PLAIN))
    if chosen is Language.SYSTEM and not forced:
        code = _code(QLocale(system.uiLanguages()[0])) if system.uiLanguages() else _code(system)
    elif code != _code(system):
        QLocale.setDefault(QLocale(code))
    catalogue = _catalogue(code)
    if catalogue:
        own, of_qt = QTranslator(application), QTranslator(application)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        own.load(catalogue)
        of_qt.load(str(Path(folder, f"qtbase_{code}.qm")))
        for translator in (own, of_qt):
            application.installTranslator(translator)


@cache
def _catalogue(code: str) -> bytes:
    """Return a language's catalogue, empty if there is none. Qt keeps reading its bytes."""
    file = resources.files("ui.languages") / f"{code}.qm"
    return file.read_bytes() if file.is_file() else b""


def _code(locale: QLocale) -> str:
    """Return the two or three letters of a locale's language."""
    return locale.name().partition("_")[0]
