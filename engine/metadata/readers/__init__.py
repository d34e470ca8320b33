"""Turns a picture's metadata into a request: exact for our own record, else as far as it maps.

All of this comes from files of unknown origin: numbers are range-checked, checkpoint names never
become paths, and our own record's paths are used only if they are local. Each tool has a module
with a recogniser that returns a request or None; the first request is used.
"""

from collections.abc import Callable
from pathlib import Path

from engine.api import ErrorCode
from engine.api.remedies import StartFrom
from engine.api.sentences import sentence
from engine.errors import EngineError
from engine.metadata.infotext import parse_infotext
from engine.metadata.pictures import read_text_chunks
from engine.metadata.png import HEAD_BYTES, png_size
from engine.metadata.readers.a1111 import from_a1111, import_infotext
from engine.metadata.readers.civitai import from_civitai
from engine.metadata.readers.comfy import from_comfy, holds_graph
from engine.metadata.readers.comfy_workflow import from_workflow, workflow_of
from engine.metadata.readers.draw_things import from_draw_things
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
from engine.metadata.stealth import read_stealth
from engine.metadata.texts import FILE_NAME, FILE_SIZE, RECORD_KEYWORD, TextChunk
from engine.regular_file import open_regular

__all__ = ["ImportedRequest", "import_record", "read_request"]

# A tool's own notation comes before the common text, which several tools write as well.
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
    from_draw_things,
    from_sdcpp,
    from_a1111,
    # A picture may carry a workflow that did not make it.
    from_workflow,
)
# The most characters of one text: two prompts of a million characters and the settings. Our own
# record writes some characters as twelve.
_MAX_CHARACTERS = 4_000_000
# Files next to a picture, which Easy Diffusion and AUTOMATIC1111 can write.
_SIDECARS = (".json", ".txt")
_MAX_SIDECAR_BYTES = 1 << 20


def read_request(path: Path, *, decode: bool = True) -> ImportedRequest:
    """Read the request of a PNG, JPEG or WebP picture, whichever tool wrote it.

    Tries its texts, then text hidden in its pixels, which are decoded if `decode` allows it, then a
    file next to it. Raises METADATA_MISSING if none has a request, INPUT_IMAGE_UNREADABLE if it is
    not a readable picture.
    """
    texts = read_text_chunks(path)
    # Readers may need the file's name and size; no real text has these keywords.
    facts = (TextChunk(FILE_NAME, path.name), *_size(path))
    imported = recognise((*texts, *facts))
    if imported is None and decode:
        imported = recognise((*read_stealth(path), *facts))
    imported = imported or _beside(path)
    if imported is not None:
        return imported
    found = ", ".join(sorted({plain(chunk.keyword) for chunk in texts}))
    raise EngineError(
        ErrorCode.METADATA_MISSING,
        sentence("The picture {path} {lack}", path=path, lack=_lack(texts)),
        sentence(
            "Choose the original file of a picture made by Safelight, AUTOMATIC1111, "
            "ComfyUI or alike."
        ),
        f"Its texts: {plain(found, 200) or 'none'}.",
        remedies=(StartFrom(path=str(path)),),
    )


def _size(path: Path) -> tuple[TextChunk, ...]:
    """Return the size of a PNG, in which ComfyUI saves; none of another file."""
    size = png_size(_read_bytes(path, HEAD_BYTES))
    return () if size is None else (TextChunk(FILE_SIZE, f"{size[0]}x{size[1]}"),)


def _lack(texts: tuple[TextChunk, ...]) -> str:
    """Return why a picture's texts give no request, as the rest of a sentence after its name."""
    if holds_graph(texts):
        return "holds a ComfyUI graph without a sampler that is known here."
    if any(workflow_of(chunk) for chunk in texts):
        return "holds a ComfyUI workflow, but not the graph that was run."
    return "does not say how it was made."


def recognise(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of a picture's texts; None if no tool's texts are among them."""
    usable = tuple(
        chunk
        for chunk in texts
        if len(chunk.text) <= _MAX_CHARACTERS or chunk.keyword == RECORD_KEYWORD
    )
    found = (recogniser(usable) for recogniser in RECOGNISERS)
    imported = next((imported for imported in found if imported is not None), None)
    # Our own record holds only values that the engine accepted.
    return imported if imported is None or imported.record else fitting(imported)


def _beside(path: Path) -> ImportedRequest | None:
    """Return the request in a .json or .txt file of the same name, else None.

    A text without settings is a caption and has no request.
    """
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
    return _read_bytes(path, _MAX_SIDECAR_BYTES).decode("utf-8", "replace")


def _read_bytes(path: Path, most: int) -> bytes:
    """Return the start of a file; empty if there is none."""
    try:
        with open_regular(path) as file:
            return file.read(most)
    except OSError:
        return b""
