"""Pictures of Civitai's generator: the ComfyUI graph that ran, and the settings, as JSON.

"extraMetadata" marks these pictures. Prompts are read as in AUTOMATIC1111, by smZ's encoder. The
graph may only enlarge an earlier picture.
"""

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.conventions import CONVENTIONS
from engine.metadata.exif import USER_COMMENT
from engine.metadata.json_text import parse_object
from engine.metadata.readers.comfy import as_smz_reads, import_graph
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.readers.names import (
    EVERY_SAMPLER,
    EVERY_SCHEDULE,
    sampler_of,
    schedule_of,
    split_method,
)
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_MARK = "extraMetadata"
_DESCRIPTIVE = (
    "workflow", "workflowId", "quantity", "draft", "aspectRatio", "baseModel", "disablePoi",
    "resources", "transformations", "remixOfId", "priority", "nsfw", "experimental",
)  # fmt: skip


def from_civitai(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of the graph, or of the settings if the graph has none; else None."""
    for chunk in texts:
        if chunk.keyword != USER_COMMENT or f'"{_MARK}"' not in chunk.text:
            continue
        document = parse_object(chunk.text)
        imported = import_graph(document)
        if imported is not None:
            return msgspec.structs.replace(imported, tool="Civitai")
        asked = document.get(_MARK)
        fields = parse_object(asked if isinstance(asked, str) else None)
        if fields:
            return _import(Values(fields))
    return None


def _import(values: Values) -> ImportedRequest:
    values.skip(*_DESCRIPTIVE)
    name, fused = split_method(values.text("sampler") or "")
    sampler = sampler_of(EVERY_SAMPLER, name)
    if name and sampler is None:
        values.refuse("sampler")
    width, height = values.sides("width", "height")
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="prompt",
            negative_prompt="negativePrompt",
            steps="steps",
            guidance="cfgScale",
            seed="seed",
            clip_skip="clipSkip",
        ),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule_of(EVERY_SCHEDULE, fused or "normal"),
        convention=as_smz_reads(CONVENTIONS[ConventionName.COMFY]),
        expand_wildcards=False,
    )
    remark = "It was changed after it was drawn; only the drawing is taken over."
    return values.imported(request, (remark,), "Civitai")
