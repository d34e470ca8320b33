"""Parsers of numbers in arbitrary text; each returns None for any other text."""

import re

_HEX = re.compile(r"(?:0x)?([0-9a-f]{1,16})", re.ASCII | re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{1,19}", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,3}))? ?(KB|MB|GB|TB)", re.ASCII | re.IGNORECASE)
_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def hexadecimal(text: str) -> int | None:
    """Parse 0x10de or 10de as a number of at most 64 bits."""
    match = _HEX.fullmatch(text.strip())
    return int(match[1], 16) if match else None


def decimal(text: str) -> int | None:
    """Parse a whole number without sign."""
    text = text.strip()
    return int(text) if _DECIMAL.fullmatch(text) else None


def size(text: str) -> int | None:
    """Parse "1536 MB" or "4 GB" as bytes, in powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    whole, fraction, unit = match.groups(default="")
    return int(float(f"{whole}.{fraction or 0}") * _UNITS[unit.upper()])
