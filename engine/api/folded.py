"""Texts as they are compared and searched: without case, and with accents in one form.

Files on a Mac may have the accents of their names as signs of their own, keyboards type none.
"""

import unicodedata


def folded(text: str) -> str:
    """Return a text in the form in which those that look alike but for case are equal."""
    return unicodedata.normalize("NFC", text).casefold()
