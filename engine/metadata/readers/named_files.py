"""Names and hashes of files in a tool's metadata.

Names come from strangers and never become paths: of an absolute path only the file's name is kept.
"""

import re
from pathlib import PureWindowsPath

_MOST_CHARACTERS = 300
_HASH = re.compile(r"(?:0x|sha256:)?([0-9a-f]{8,64})")


def file_name(name: object) -> str:
    """Return a name that is no path on its own: relative, without `..`; empty for none."""
    if not isinstance(name, str) or name.strip().casefold() in ("", "none"):
        return ""
    path = PureWindowsPath(name[:_MOST_CHARACTERS].replace("/", "\\"))
    parts = [path.name] if path.anchor else [part for part in path.parts if part != ".."]
    return "/".join(part for part in parts if part.isprintable())


def hash_digits(digits: object) -> str | None:
    """Return a hash in hexadecimal digits; None for anything else."""
    found = _HASH.fullmatch(digits.strip().casefold()) if isinstance(digits, str) else None
    return found[1] if found else None
