"""The LoRAs of a picture: what they do to each pass of its job."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import msgspec

from engine.api.lora import LoraMode, LoraReport
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.pipeline.denoise.lora_stretches import NO_LORAS, PassLoras
from engine.text.lora_strengths import RunLength


class PictureLoras(msgspec.Struct, frozen=True, eq=False):
    """The LoRAs of a picture: `passes` has those of each pass, a refiner's after its base's.

    Pictures of the same `key` have the same LoRAs and share networks. `reports` are for the record;
    `embeddings` are those that the LoRAs' files bundle, by name.
    """

    key: Hashable = ()
    passes: tuple[PassLoras, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    reports: tuple[LoraReport, ...] = ()
    embeddings: Mapping[str, Embedding] = msgspec.field(default_factory=dict[str, Embedding])
    # The mode that was chosen for the request, for the record; None without LoRAs that act.
    mode: LoraMode | None = None

    def of_pass(self, number: int) -> PassLoras:
        """Return the LoRAs of a pass, by its number from 0."""
        return self.passes[number] if number < len(self.passes) else NO_LORAS


WITHOUT_LORAS = PictureLoras()


def one_after_another(runs: Sequence[PictureLoras], passes: Sequence[int]) -> PictureLoras:
    """Return the LoRAs of a picture from those of its runs, which have so many passes each."""
    if len(runs) == 1:
        return runs[0]
    embeddings: dict[str, Embedding] = {}
    for run in runs:
        embeddings |= run.embeddings
    reports: dict[object, LoraReport] = {}
    for report in (report for run in runs for report in run.reports):
        key = report.name, report.strength, report.text_strength, report.points
        reports.setdefault(key, report)
    return PictureLoras(
        key=tuple(run.key for run in runs),
        passes=tuple(
            run.of_pass(number)
            for run, count in zip(runs, passes, strict=True)
            for number in range(count)
        ),
        warnings=tuple(dict.fromkeys(warning for run in runs for warning in run.warnings)),
        reports=tuple(reports.values()),
        embeddings=embeddings,
        mode=next((run.mode for run in runs if run.mode is not None), None),
    )


# Reads the LoRAs that the request of one picture names, for a run of this length. Raises
# EngineError.
ReadLoras = Callable[[ResolvedRequest, RunLength], PictureLoras]


def no_loras(_request: ResolvedRequest, _run: RunLength) -> PictureLoras:
    """Return no LoRAs, whatever the request names."""
    return WITHOUT_LORAS
