"""A picture's settings as a text that people send each other, and that can be read again."""

from pathlib import Path
from typing import Any

from engine.api import (
    ConventionName,
    GenerateRequest,
    GenerationRecord,
    PredictionType,
    ResolvedRequest,
    SamplerName,
    ScheduleName,
)
from engine.api.conventions import convention_of
from engine.api.limits import MIN_SIDE
from engine.metadata.infotext import Infotext, Parameter, format_infotext, parse_infotext
from engine.metadata.pictures import read_text_chunks
from engine.metadata.readers import ImportedRequest
from engine.metadata.readers.a1111_keys import RESULTS_AS, convention_text
from engine.metadata.record_text import record_infotext
from engine.metadata.texts import TextChunk

# The keys of a request's fields; a field without a value has no pair.
_KEYS = {
    "steps": ("Steps",),
    "sampler": ("Sampler",),
    "schedule": ("Schedule type",),
    "guidance": ("CFG scale", "Distilled CFG Scale"),
    "seed": ("Seed",),
    "width": ("Size",),
    "height": ("Size",),
}
# What stands in the place of a missing value until its pair is left out.
_FILLING: dict[str, Any] = {
    "steps": 1,
    "sampler": SamplerName.EULER,
    "schedule": ScheduleName.NORMAL,
    "guidance": 1.0,
    "seed": 0,
    "width": MIN_SIDE,
    "height": MIN_SIDE,
    "clip_skip": 1,
    "strength": 1.0,
    "zero_terminal_snr": False,
}


def settings_text(path: Path, imported: ImportedRequest) -> str:
    """Return how a picture was made in AUTOMATIC1111's notation, whichever tool wrote the file.

    `imported` is what `read_request` found in the file. Our reader gives the same settings for the
    text, without what belongs to this machine: paths, and the start picture. Raises
    INPUT_IMAGE_UNREADABLE if the file cannot be read any more.
    """
    if imported.record is not None:
        return format_infotext(_with_tool(record_infotext(imported.record), imported.request))
    if imported.tool == "AUTOMATIC1111":
        written = filter(None, map(_written, read_text_chunks(path)))
        if (text := next(written, None)) is not None:
            return text
    return format_infotext(_with_tool(_infotext(imported), imported.request))


def _written(chunk: TextChunk) -> str:
    """Return a text in this notation as it is in the file; empty for any other."""
    return chunk.text.strip() if parse_infotext(chunk.text).get("Steps") else ""


def _with_tool(info: Infotext, request: GenerateRequest) -> Infotext:
    """Return the text with the tool whose conventions it follows, unless that is AUTOMATIC1111."""
    convention = convention_of(request.convention)
    if convention.name is ConventionName.A1111:
        return info
    stated = Parameter(RESULTS_AS, convention_text(convention))
    return Infotext(info.prompt, info.negative_prompt, (*info.parameters, stated))


def _infotext(imported: ImportedRequest) -> Infotext:
    """Return the request of another tool's picture as prompts and pairs."""
    request = imported.request
    gaps = {name for name in _FILLING if getattr(request, name) is None}
    fields = {
        name: getattr(request, name)
        for name in ResolvedRequest.__struct_fields__
        if hasattr(request, name)
    }
    fields |= {name: _FILLING[name] for name in gaps}
    fields["checkpoint"] = request.checkpoint or imported.model
    fields["convention"] = convention_of(request.convention)
    record = GenerationRecord(
        safelight="",
        request=ResolvedRequest(**fields),
        family="",
        prediction=PredictionType.EPSILON,
        device="",
        checkpoint_digest="",
    )
    info = record_infotext(record)
    unknown = {"Version", *(key for name in gaps for key in _KEYS.get(name, ()))}
    pairs = tuple(pair for pair in info.parameters if pair.key not in unknown)
    return Infotext(info.prompt, info.negative_prompt, pairs)
