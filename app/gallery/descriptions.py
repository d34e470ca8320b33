"""The facts of how a picture was made that a gallery asks for: words, model, LoRAs, seed, tool."""

import logging
import re
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

import msgspec

from engine.api.values import ErrorCode
from engine.api.weight_suffixes import without_weight_suffix
from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.metadata.readers import ImportedRequest

# The most characters of a prompt that can be searched, and of a name.
MOST_CHARACTERS = 20_000
_MOST_NAME = 300
_TAG = re.compile(r"<(?:lora|lyco):([^:<>]{1,200})")
_log = logging.getLogger(__name__)


class Description(msgspec.Struct, frozen=True):
    """The texts of a picture of unknown origin, and its seed; empty if its file does not tell."""

    prompt: str = ""
    negative: str = ""
    model: str = ""
    loras: tuple[str, ...] = ()
    seed: int | None = None
    tool: str = ""


UNKNOWN = Description()


def read_description(path: Path) -> Description:
    """Read how a picture was made, without decoding its pixels. Raises OSError for no file."""
    # Here, on the thread that scans: the Gallery opens sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request

    try:
        return _describe(read_request(path, decode=False))
    except EngineError as error:
        if error.info.code is ErrorCode.INPUT_IMAGE_UNREADABLE:
            _log.debug("%s", error.info.detail)
        return UNKNOWN
    except Exception:  # noqa: BLE001 (the boundary that reports)
        # One picture that a reader stumbles over must not keep others out of the gallery.
        _log.exception("the metadata of a picture")
        return UNKNOWN


def _describe(imported: "ImportedRequest") -> Description:
    request = imported.request
    listed = [lora.file for lora in request.loras]
    named = [*listed, *_TAG.findall(request.prompt[:MOST_CHARACTERS])]
    return Description(
        request.prompt[:MOST_CHARACTERS],
        request.negative_prompt[:MOST_CHARACTERS],
        bare_name(request.checkpoint or imported.model),
        tuple(dict.fromkeys(filter(None, map(bare_name, named)))),
        request.seed,
        imported.tool,
    )


def bare_name(file: str) -> str:
    """Return the name of a file of weights without its folders, whichever system's, and suffix."""
    name = PureWindowsPath(file[-4 * _MOST_NAME :].replace("/", "\\")).name
    return without_weight_suffix(name).strip()[:_MOST_NAME]
