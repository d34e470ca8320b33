"""From a picture's metadata to a request that makes it again: ours exactly, others' as it maps.

Everything here comes from a file of unknown origin: numbers are range-checked, names of checkpoints
never become paths, and our own record's paths are taken only if they are local. Each tool has a
module with a recogniser that gives a request or None; the first that recognises a picture reads it.
"""

from collections.abc import Callable
from pathlib import Path

from engine.api import ErrorCode
from engine.errors import EngineError
from engine.metadata.infotext import parse_infotext
from engine.metadata.pictures import read_text_chunks
from engine.metadata.readers.a1111 import from_a1111, import_infotext
from engine.metadata.readers.civitai import from_civitai
from engine.metadata.readers.comfy import from_comfy, holds_graph
from engine.metadata.readers.comfy_workflow import from_workflow, workflow_of
from engine.metadata.readers.easy_diffusion import from_easy_diffusion, from_sidecar
from engine.metadata.readers.fooocus import from_fooocus
from engine.metadata.readers.imported import ImportedRequest, plain
from engine.metadata.readers.invoke import from_invoke
from engine.metadata.readers.json_parameters import from_ruined_fooocus, from_space
from engine.metadata.readers.novelai import from_novelai
from engine.metadata.readers.options import fitting
from engine.metadata.readers.safelight import from_safelight, import_record
from engine.metadata.readers.sdcpp import from_sdcpp
from engine.metadata.readers.swarm import from_swarm
from engine.metadata.record import RECORD_KEYWORD
from engine.metadata.stealth import read_stealth
from engine.metadata.texts import FILE_NAME, TextChunk

__all__ = ["ImportedRequest", "import_record", "read_request"]

# A tool's own notation comes before the common text, which several write beside it.
RECOGNISERS: tuple[Callable[[tuple[TextChunk, ...]], ImportedRequest | None], ...] = (
    from_safelight,
    from_swarm,
    from_fooocus,
    from_novelai,
    from_invoke,
    from_civitai,
    from_comfy,
    from_ruined_fooocus,
    from_space,
    from_easy_diffusion,
    from_sdcpp,
    from_a1111,
    # A picture may carry one that it was not made by.
    from_workflow,
)
# Of one text: two prompts of a million characters and what else there is to say. Our own record
# writes some characters as twelve.
_MAX_CHARACTERS = 4_000_000
# Files beside a picture, which Easy Diffusion and AUTOMATIC1111 can write.
_SIDECARS = (".json", ".txt")
_MAX_SIDECAR_BYTES = 1 << 20


def read_request(path: Path, *, decode: bool = True) -> ImportedRequest:
    """Read the request that a PNG, JPEG or WebP picture tells of, whichever tool wrote it.

    Its texts count, then what is hidden in its pixels, for which they are decoded if `decode`
    allows it, then a file beside it. Raises METADATA_MISSING if none tells, INPUT_IMAGE_UNREADABLE
    if it is no readable picture.
    """
    texts = read_text_chunks(path)
    # Whatever reads the texts may ask for it; no file's texts are called so.
    name = TextChunk(FILE_NAME, path.name)
    imported = recognise((*texts, name))
    if imported is None and decode:
        imported = recognise((*read_stealth(path), name))
    imported = imported or _beside(path)
    if imported is not None:
        return imported
    found = ", ".join(sorted({plain(chunk.keyword) for chunk in texts}))
    raise EngineError(
        ErrorCode.METADATA_MISSING,
        f"The picture {path} {_lack(texts)}",
        "Choose the original file of a picture made by Safelight, AUTOMATIC1111, ComfyUI or alike.",
        f"Its texts: {plain(found, 200) or 'none'}.",
    )


def _lack(texts: tuple[TextChunk, ...]) -> str:
    """Why its texts are no request, to follow the picture's name."""
    if holds_graph(texts):
        return "holds a ComfyUI graph without a sampler that is known here."
    if any(workflow_of(chunk) for chunk in texts):
        return "holds a ComfyUI workflow, but not the graph that was run."
    return "does not say how it was made."


def recognise(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """The request of a picture's texts; None where no tool's are among them."""
    usable = tuple(
        chunk
        for chunk in texts
        if len(chunk.text) <= _MAX_CHARACTERS or chunk.keyword == RECORD_KEYWORD
    )
    found = (recogniser(usable) for recogniser in RECOGNISERS)
    imported = next((imported for imported in found if imported is not None), None)
    # Our own record holds what the engine took.
    return imported if imported is None or imported.record else fitting(imported)


def _beside(path: Path) -> ImportedRequest | None:
    """The request in a file of the same name; a text that is only words is someone's caption."""
    for suffix in _SIDECARS:
        text = _read_text(path.with_suffix(suffix))
        imported = from_sidecar(suffix, text)
        if imported is not None:
            return fitting(imported)
        info = parse_infotext(text)
        if suffix == ".txt" and info.parameters:
            return fitting(import_infotext(info))
    return None


def _read_text(path: Path) -> str:
    """The start of a file, empty where there is none."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_MAX_SIDECAR_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
