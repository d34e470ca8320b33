"""The hashes of LoRA files in a picture's record, by which other tools and sites name them."""

from pathlib import Path

import msgspec

from engine.api.lora import LoraReport
from engine.checkpoints.full_hash import TENSORS_HASH_DIGITS
from engine.jobs.services import JobServices


def with_hashes(reports: tuple[LoraReport, ...], services: JobServices) -> tuple[LoraReport, ...]:
    """Return the reports with the hashes of each file that are known.

    The hash of the tensors that a trainer noted stays: other tools believe it. A file whose hashes
    are not known is hashed in the background, for later pictures.
    """
    return tuple(_with_hashes(report, services) for report in reports)


def _with_hashes(report: LoraReport, services: JobServices) -> LoraReport:
    found = services.lora_hashes(Path(report.path)) if report.path is not None else None
    if found is None:
        return report
    tensors = found.tensors and found.tensors[:TENSORS_HASH_DIGITS]
    return msgspec.structs.replace(
        report, sha256=found.whole, tensors_hash=report.tensors_hash or tensors
    )
