"""The files of a record's layers and second passes: the contents by which they are found again."""

from collections.abc import Iterable, Iterator
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.api.control import ControlLayer, ControlReport
from engine.api.image_prompts import ImagePrompt, ImagePromptReport
from engine.api.preprocessors import ControlKind
from engine.api.record import GenerationRecord, ResolvedRequest, SecondPassReport
from engine.api.request import GenerateRequest
from engine.api.second_passes import SecondPass
from engine.regular_file import open_regular

ReportT = TypeVar("ReportT", ControlReport, ImagePromptReport)


def with_digests(record: GenerationRecord) -> ResolvedRequest:
    """Return a record's request with the digests of the files that its reports tell of."""
    request = record.request
    passes = request.second_passes
    second_reports = (*(record.second_passes or ()), *[None] * len(passes))
    return msgspec.structs.replace(
        request,
        controls=tuple(map(_layer, request.controls, _of_controls(record))),
        image_prompts=tuple(map(_prompt, request.image_prompts, _of_image_prompts(record))),
        second_passes=tuple(map(_second_pass, passes, second_reports)),
    )


def changed_pictures(record: GenerationRecord, request: GenerateRequest) -> Iterator[str]:
    """Yield sentences about pictures of layers and image prompts that are others than recorded.

    `request` is that of the record, with the files of this machine, which are read for it.
    """
    pairs = (
        *zip(request.controls, _of_controls(record), strict=True),
        *zip(request.image_prompts, _of_image_prompts(record), strict=True),
    )
    known = chain.from_iterable(_pictures(layer, report) for layer, report in pairs if report)
    told = (picture for picture, digest in known if _differs(picture, digest))
    for path in dict.fromkeys(told):
        yield f"The picture {path} has changed since it was followed; the result will differ."


def _pictures(
    layer: ControlLayer | ImagePrompt, report: ControlReport | ImagePromptReport
) -> Iterator[tuple[str, str]]:
    """Yield the pictures of a layer with the digests of their bytes."""
    yield layer.image, report.image_sha256
    if isinstance(layer, ImagePrompt) and isinstance(report, ImagePromptReport):
        yield from zip(layer.further, report.further_sha256, strict=False)


def _differs(picture: str, digest: str) -> bool:
    """Return True for a picture of other bytes; one that is gone is told by what reads it."""
    if not picture or not digest:
        return False
    try:
        with open_regular(Path(picture)) as file:
            return file_digest(file, "sha256").hexdigest() != digest
    except (OSError, ValueError):
        return False


def _of_controls(record: GenerationRecord) -> tuple[ControlReport | None, ...]:
    layers, reports = record.request.controls, record.controls or ()
    networks = _paired((layer.network for layer in layers), reports)
    # A reference has no file, and a request has one at most.
    reference = next((report for report in reports if report.kind is ControlKind.REFERENCE), None)
    # What the model itself followed has none either; a layer that was left out has no map.
    own = next((report for report in reports if report.path is None and report.map_sha256), None)
    return tuple(
        reference if layer.is_reference else report if layer.network else own
        for layer, report in zip(layers, networks, strict=True)
    )


def _of_image_prompts(record: GenerationRecord) -> tuple[ImagePromptReport | None, ...]:
    files = (prompt.adapter for prompt in record.request.image_prompts)
    return tuple(_paired(files, record.image_prompts or ()))


def _paired(files: Iterable[str | None], reports: Iterable[ReportT]) -> Iterator[ReportT | None]:
    """Yield the report on each file; None without one. Those of one file keep their order."""
    left = [report for report in reports if report.path is not None]
    for file in files:
        found = next((report for report in left if report.path == file), None)
        if found is not None:
            left.remove(found)
        yield found


def _layer(layer: ControlLayer, report: ControlReport | None) -> ControlLayer:
    if report is None:
        return layer
    return msgspec.structs.replace(
        layer,
        digest=report.digest or None,
        preprocessor_digest=report.preprocessor_digest or None,
    )


def _prompt(prompt: ImagePrompt, report: ImagePromptReport | None) -> ImagePrompt:
    if report is None:
        return prompt
    encoder_digest = report.encoder_digest if report.encoder == prompt.encoder else None
    return msgspec.structs.replace(
        prompt, digest=report.digest or None, encoder_digest=encoder_digest or None
    )


def _second_pass(second: SecondPass, report: SecondPassReport | None) -> SecondPass:
    if report is None:
        return second
    return msgspec.structs.replace(
        second, upscaler_digest=report.upscaler_digest, checkpoint_digest=report.checkpoint_digest
    )
