"""Sentences of the engine in the window's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from engine.api.reasons import known_reason
from engine.api.sentences import Sentence, Text, filled

# Qt takes whole numbers of 64 bits with a sign; seeds have no sign.
_MOST = 2**63 - 1
# The context of these sentences in the catalogues of languages.
CONTEXT = "engine"


def worded(text: Text) -> str:
    """Return a sentence in the window's language; a text that is a string stays as it is."""
    return filled(text, _translated, _shown) if isinstance(text, Sentence) else text


def worded_reason(text: str) -> str:
    """Return a reason that a backend, a trial or a pack gave, in the window's language."""
    return worded(known_reason(text))


def worded_both(text: Text, advice: Text) -> str:
    """Return what happened and what to do about it in the window's language."""
    return " ".join(filter(None, (worded(text), worded(advice))))


def _translated(template: str) -> str:
    return QCoreApplication.translate(CONTEXT, template)


def _shown(number: int | float, form: str) -> str:
    """Return a number as the language writes it; `form` is as in "{n:form}"."""
    locale = QLocale()
    if "," not in form:
        locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    if isinstance(number, int):
        return locale.toString(number) if abs(number) <= _MOST else format(number, form)
    if form.endswith("f"):
        digits = form.removesuffix("f").partition(".")[2]
        return locale.toString(number, "f", int(digits or 6))
    return locale.toString(number, "g", 6 if form == "g" else 12)
