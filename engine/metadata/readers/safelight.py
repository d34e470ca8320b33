"""Reader of our own record: the request that makes the same picture again."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from engine.api import ComponentFiles, GenerateRequest, GenerationRecord, ResolvedRequest
from engine.api.control import ControlLayer
from engine.api.conventions import choice_of
from engine.api.embeddings import EmbeddingHash
from engine.api.image_prompts import ImagePrompt
from engine.api.lora import MAX_LORAS, LoraChoice, LoraHash, LoraReport
from engine.api.second_passes import SecondPass
from engine.metadata.readers.embeddings import embedding_hash, listed_hashes
from engine.metadata.readers.imported import ImportedRequest, enlarged_afterwards, plain
from engine.metadata.readers.named_files import file_name
from engine.metadata.record import find_record
from engine.metadata.record_text import has_init
from engine.metadata.recorded_files import with_digests
from engine.metadata.texts import TextChunk

# UNC and device paths: opening one on Windows sends the user's credentials to the server it names.
_LOCAL_DEVICE = re.compile(r"\\\\\?\\[A-Za-z]:\\")
# Fields that a request and its resolved form share.
_RECORDED = tuple(
    name for name in ResolvedRequest.__struct_fields__ if name in GenerateRequest.__struct_fields__
)


# Returns a path on this machine; None for another machine's, with a warning.
Local = Callable[[str | None], str | None]


def from_safelight(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of our record; None if there is none."""
    record = find_record(texts)
    return import_record(record) if record is not None else None


def import_record(record: GenerationRecord) -> ImportedRequest:
    """Return the request that makes a recorded picture again."""
    request = record.request
    warnings: list[str] = []

    def local(path: str | None) -> str | None:
        if path is None or _is_local(path):
            return path
        warnings.append(f'The network path "{plain(path)}" was not taken over; choose the file.')
        return None

    digested = with_digests(record)
    changes: dict[str, Any] = {
        "checkpoint": local(request.checkpoint),
        "components": ComponentFiles(
            **{
                part: local(getattr(request.components, part))
                for part in ComponentFiles.__struct_fields__
            }
        ),
        "inputs": tuple(i for i in request.inputs if local(i.path) is not None),
        "loras": tuple(_imported(lora, record, local) for lora in request.loras),
        "controls": tuple(_local_layer(layer, local) for layer in digested.controls),
        "image_prompts": tuple(
            _local_prompt(image_prompt, local) for image_prompt in digested.image_prompts
        ),
        "second_passes": tuple(_local_pass(second, local) for second in digested.second_passes),
        "lora_hashes": _lora_hashes(record),
        "embedding_hashes": _embedding_hashes(record),
        "strength": request.strength if has_init(request) else None,
        "convention": choice_of(request.convention),
        # Wildcards are already expanded in the prompt.
        "expand_wildcards": False,
    }
    warnings += (
        enlarged_afterwards(upscale.name, f"to {upscale.width}x{upscale.height}")
        for upscale in record.upscales or ()
    )
    same: dict[str, Any] = {name: getattr(request, name) for name in _RECORDED}
    return ImportedRequest(GenerateRequest(**(same | changes)), tuple(warnings), record)


def _imported(lora: LoraChoice, record: GenerationRecord, local: Local) -> LoraChoice:
    """Return a LoRA with its hash; by its file's name alone if the path is another machine's."""
    file = lora.file if local(lora.file) is not None else file_name(lora.file)
    known = (_hash(report) for report in record.loras if report.name == lora.file)
    return msgspec.structs.replace(lora, file=file, hash=lora.hash or next(known, None))


def _local_layer(layer: ControlLayer, local: Local) -> ControlLayer:
    return msgspec.structs.replace(
        layer,
        image=local(layer.image) or "",
        network=local(layer.network),
        preprocessor_weights=local(layer.preprocessor_weights),
        mask=local(layer.mask),
    )


def _local_prompt(prompt: ImagePrompt, local: Local) -> ImagePrompt:
    return msgspec.structs.replace(
        prompt,
        image=local(prompt.image) or "",
        adapter=local(prompt.adapter),
        encoder=local(prompt.encoder),
        further=tuple(local(path) or "" for path in prompt.further),
        mask=local(prompt.mask),
    )


def _local_pass(second: SecondPass, local: Local) -> SecondPass:
    """Return a pass with files of this machine; without its upscaler it has the usual one."""
    usual = SecondPass().upscaler
    return msgspec.structs.replace(
        second, upscaler=local(second.upscaler) or usual, checkpoint=local(second.checkpoint)
    )


def _lora_hashes(record: GenerationRecord) -> tuple[LoraHash, ...]:
    """Return the hashes of LoRAs that the prompt names: the request's, and those of the files."""
    listed = {lora.file for lora in record.request.loras}
    named = {lora.name: lora.hash for lora in record.request.lora_hashes}
    for report in record.loras:
        digits = _hash(report)
        if digits is not None and report.name not in listed:
            named[report.name] = digits
    return tuple(LoraHash(name=name, hash=digits) for name, digits in named.items())[:MAX_LORAS]


def _hash(report: LoraReport) -> str | None:
    return report.tensors_hash or report.sha256


def _embedding_hashes(record: GenerationRecord) -> tuple[EmbeddingHash, ...]:
    """Return the hashes of the embeddings that were used, and of those that were missing."""
    used = (embedding_hash(embedding.name, embedding.sha256) for embedding in record.embeddings)
    return listed_hashes((*used, *record.request.embedding_hashes))


def _is_local(path: str) -> bool:
    if "\0" in path:
        return False
    return not path.startswith(("\\\\", "//")) or _LOCAL_DEVICE.match(path) is not None
