"""Keys as texts: for people, and for every system."""

from PySide6.QtGui import QKeySequence

# Tab moves the focus.
_NO_KEYS = ("", "Tab", "Backtab")
# Qt treats the numeric keypad's Enter and Return as different keys; here they are one.
_RETURN, _ENTER = "Return", "Enter"


def shown_key(key: QKeySequence) -> str:
    """Return a key in the system's notation."""
    # The label of the key on most keyboards.
    return key.toString(QKeySequence.SequenceFormat.NativeText).replace(_RETURN, _ENTER)


def portable(key: QKeySequence) -> str:
    """Return a key as text for every system; the keypad's Enter is Return."""
    return key.toString(QKeySequence.SequenceFormat.PortableText).replace(_ENTER, _RETURN)


def is_key(key: QKeySequence) -> bool:
    """Return True for a key that exists, and is not Tab."""
    text = portable(key)
    # The key + is the last character, and no separator.
    return (text.rpartition("+")[2] or text[-1:]) not in _NO_KEYS


def pastes(key: QKeySequence) -> bool:
    """Return True for the key that pastes in every program, which no action can have."""
    return portable(key) == portable(QKeySequence(QKeySequence.StandardKey.Paste))


def with_keypad(key: str) -> tuple[QKeySequence, ...]:
    """Return a key of a portable text, and the keypad's own where it has one."""
    texts = dict.fromkeys((key, key.replace(_RETURN, _ENTER)))
    return tuple(map(QKeySequence, texts))
