"""Sentences of the engine in the window's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from engine.api.reasons import known_reason
from engine.api.sentences import Sentence, Text, completed, filled, sentence

# Qt takes whole numbers of 64 bits with a sign; seeds have no sign.
_MOST = 2**63 - 1
# The context of these sentences in the catalogues of languages.
CONTEXT = "engine"
_WORDS_OF_OTHERS = sentence("“{words}”")
# The place in the sentences of `engine.api.reasons` that holds another reason.
_REASON = "reason"


def worded(text: Text) -> str:
    """Return a sentence in the window's language; a text that is a string stays as it is."""
    return filled(text, _translated, _shown) if isinstance(text, Sentence) else text


def worded_reason(text: str) -> str:
    """Return a reason that a backend, a trial or a pack gave, in the window's language.

    The words of a driver or a library stay as they are, in quotes.
    """
    return worded(_quoted(known_reason(text)))


def worded_both(text: Text, advice: Text) -> str:
    """Return what happened and what to do about it in the window's language."""
    return " ".join(filter(None, (worded(text), worded(advice))))


def _quoted(reason: Text) -> Text:
    """Put a text that no sentence of ours is into quotes, also where it is the reason in one."""
    if not isinstance(reason, Sentence):
        return completed(_WORDS_OF_OTHERS, words=reason.strip()) if reason.strip() else ""
    values = {
        name: _quoted(value) if name == _REASON and isinstance(value, str | Sentence) else value
        for name, value in reason.values
    }
    return completed(reason, **values)


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
