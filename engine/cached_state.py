"""Small files of the cache and what is in them: whatever cannot be read is as if it were not there.

It can be found out again, and what is found out then takes its place.
"""

import logging
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.untrusted_json import JsonError, read_json

_log = logging.getLogger(__name__)

T = TypeVar("T")


def recall(path: Path, decoder: msgspec.json.Decoder[T], most_bytes: int) -> T | None:
    """What a file of the cache says; None where there is none, or none that can be read."""
    try:
        return read_json(path, decoder, most_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, JsonError) as error:
        _log.info("%s in the cache cannot be read and is made again: %s", path.name, error)
        return None
