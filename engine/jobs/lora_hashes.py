"""The hashes of LoRA files in a picture's record, by which other tools and sites name them."""

from pathlib import Path

import msgspec

from engine.api.lora import LoraReport
from engine.errors import EngineError
from engine.jobs.services import JobServices


def with_hashes(reports: tuple[LoraReport, ...], services: JobServices) -> tuple[LoraReport, ...]:
    """Return the reports with the SHA-256 of each file that is known.

    A file whose hash is not known is hashed in the background, for later pictures.
    """
    return tuple(_with_hash(report, services) for report in reports)


def _with_hash(report: LoraReport, services: JobServices) -> LoraReport:
    if report.path is None:
        return report
    try:
        index = services.known_files.read_index(Path(report.path))
    except EngineError:
        # It was deleted while its picture was made.
        return report
    if index.state is None:
        return report
    sha256 = services.known_files.sha256(index.state)
    if sha256 is None and services.hashes is not None:
        services.hashes.want(index.state, index.digest)
    return msgspec.structs.replace(report, sha256=sha256)
