"""Reads JSON from strangers or from a damaged disk in bounded time and memory.

Every decoder used here recurses, and each raises its own errors for a text that is nested too
deeply, is not UTF-8 or holds an endless number. So depth is counted before decoding, and all errors
become one. The last of two equal keys counts, as in most readers of JSON.
"""

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.regular_file import read_bounded

# Levels of brackets. ComfyUI's workflows, the deepest that tools write, have about fifteen.
MAX_DEPTH = 100
# The most characters outside strings for `decode_any`: a megabyte of `[]` becomes a hundred.
# ComfyUI's largest graphs have some hundred kilobytes of them.
MAX_STRUCTURE = 1 << 20
# Digits of an integer; a float has at most 309.
_MAX_DIGITS = 300
# Possessive, and never failing, so that it takes linear time; a string may lack its end.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKETS = b"[{]}"
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\x01\xff\xff")  # up and down, as signed bytes
_NEITHER_BRACKETS_NOR_QUOTES = bytes(set(range(256)) - set(_BRACKETS + b'"'))

T = TypeVar("T")


class JsonError(ValueError):
    """A text that is not the expected JSON; the message follows "it is damaged: "."""


def decode_json(text: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode a text with a decoder. Raises only JsonError.

    Texts may hold lone surrogates, as `engine.api.texts.encode_json` writes them.
    """
    _refuse_depth(text)
    try:
        # msgspec skips a field that it does not know without looking at its text.
        text.decode()
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if rb"\ud" not in text:
            raise JsonError(str(error)) from error
    # An escaped half of a character, which msgspec refuses.
    try:
        parsed = json.loads(text, parse_int=_integer)
        return msgspec.convert(parsed, decoder.type, dec_hook=decoder.dec_hook)
    except (msgspec.DecodeError, ValueError) as error:
        raise JsonError(str(error)) from error


def decode_any(text: str) -> object:
    """Decode a text of unknown structure. Raises only JsonError.

    Numbers may be NaN or infinite, and texts may hold lone surrogates: tools write them.
    """
    if len(text) > MAX_STRUCTURE:
        strings = sum(found.end() - found.start() for found in _STRING.finditer(text))
        if len(text) - strings > MAX_STRUCTURE:
            raise JsonError("it is too long")
    _refuse_depth(text.encode("utf-8", "surrogatepass"))
    try:
        return json.loads(text, parse_int=_integer)
    except ValueError as error:
        raise JsonError(str(error)) from error


def read_json(path: Path, decoder: msgspec.json.Decoder[T], most_bytes: int) -> T:
    """Decode a file with a decoder. Raises JsonError, and OSError as `read_bounded` does."""
    return decode_json(read_bounded(path, most_bytes), decoder)


def _refuse_depth(text: bytes) -> None:
    """Raise JsonError if brackets outside strings open more than MAX_DEPTH levels.

    Takes linear time and a few times the text's memory.
    """
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return
    # Without escapes every quotation mark opens or closes a string, and a pair of them without a
    # bracket in between can be removed.
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = unescaped.translate(None, _NEITHER_BRACKETS_NOR_QUOTES).replace(b'""', b"")
    outside = b"".join(marks.split(b'"')[::2])
    steps = memoryview(outside.translate(_STEPS)).cast("b")
    # Stops at the first that is too deep.
    if any(map(MAX_DEPTH.__lt__, accumulate(steps))):
        raise JsonError("it is nested too deeply")


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise JsonError("it holds a number of too many digits")
    return int(digits)
