"""Names of files that come from servers, made safe on each system."""

import re
import unicodedata
from contextlib import suppress
from urllib.parse import unquote

# As many bytes as every file system takes, less those of the suffixes that a download needs.
MOST_BYTES = 200
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
# Names of devices on Windows, with any suffix and in any case.
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)")
_NO_NAME = "download"
# The two forms of a name in `Content-Disposition` (RFC 6266, 4.3; RFC 8187): the one of any letters
# wins, the other is quoted or, as some servers write it, not.
_ANY_LETTERS = re.compile(
    r"(?i)(?:^|;)\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^;\s\"]{1,2000})"
)
_PLAIN = re.compile(
    r"(?i)(?:^|;)\s*filename\s*=\s*(?:\"((?:[^\"\\]|\\.){1,1000})\"|([^;\"]{1,1000}))"
)


def safe_file_name(name: str) -> str:
    """Return a name that is a plain file's on Linux, Windows and macOS; a safe one is kept.

    Separators, control and direction characters become underscores; so do lone surrogates.
    """
    plain = "".join(
        "_" if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") else sign
        for sign in unicodedata.normalize("NFC", name)
    )
    plain = _FORBIDDEN.sub("_", plain).lstrip(" .").rstrip(" .")
    if _RESERVED.match(plain):
        plain = f"_{plain}"
    return _shortened(plain or _NO_NAME)


def stated_file_name(disposition: str) -> str:
    """Return the name in a header `Content-Disposition`, made safe; empty if it names none."""
    if (found := _ANY_LETTERS.search(disposition)) is not None:
        return safe_file_name(unquote(found[2], encoding=found[1], errors="replace"))
    if (found := _PLAIN.search(disposition)) is None:
        return ""
    name = re.sub(r"\\(.)", r"\1", found[1]) if found[1] else found[2].strip()
    # Headers are read as Latin-1; most servers mean UTF-8.
    with suppress(UnicodeError):
        name = name.encode("latin-1").decode()
    return safe_file_name(name)


def _shortened(name: str) -> str:
    if len(name.encode()) <= MOST_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}" if stem and len(suffix.encode()) <= 20 else ""
    room = MOST_BYTES - len(end.encode())
    return name.encode()[:room].decode(errors="ignore").rstrip(" .") + end
