"""Small files of the cache; a file that cannot be read counts as missing.

Its content can be found out again and then replaces it.
"""

import logging
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.untrusted_json import JsonError, read_json

_log = logging.getLogger(__name__)

T = TypeVar("T")


def recall(path: Path, decoder: msgspec.json.Decoder[T], most_bytes: int) -> T | None:
    """Return the content of a cache file; None if it is missing or cannot be read."""
    try:
        return read_json(path, decoder, most_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, JsonError) as error:
        _log.info("%s in the cache cannot be read and is made again: %s", path.name, error)
        return None
