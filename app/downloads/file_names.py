"""Names of files that come from servers, made safe on each system."""

import re
import unicodedata

# As many bytes as every file system takes, less those of the suffixes that a download needs.
_MOST_BYTES = 200
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
# Names of devices on Windows, with any suffix and in any case.
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)")
_NO_NAME = "download"


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


def _shortened(name: str) -> str:
    if len(name.encode()) <= _MOST_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}" if stem and len(suffix.encode()) <= 20 else ""
    room = _MOST_BYTES - len(end.encode())
    return name.encode()[:room].decode(errors="ignore").rstrip(" .") + end
