"""The folders of models that the user named in the window, in a file that both programs read.

The window writes it (`app.library.lora_memory`); the command line only looks into the same folders.
"""

from pathlib import Path

import msgspec

from app.paths import Paths
from engine.regular_file import read_bounded
from engine.untrusted_json import decode_json

FILE = "loras.json"
MOST_BYTES = 4 << 20


class LoraNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of the file: folders, and times in ns since 1970 by path, the latest last."""

    folders: tuple[str, ...] = ()
    used: dict[str, int] = {}


DECODER = msgspec.json.Decoder(LoraNotes)


def named_folders(paths: Paths) -> tuple[Path, ...]:
    """Return the folders of the environment, then those that were named in the window.

    A file that cannot be read names none: the window tells of it.
    """
    try:
        notes = decode_json(read_bounded(paths.state / FILE, MOST_BYTES), DECODER)
    except (OSError, ValueError):
        return paths.loras
    return tuple(dict.fromkeys((*paths.loras, *map(Path, notes.folders))))
