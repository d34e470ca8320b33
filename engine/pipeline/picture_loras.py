"""The LoRAs of a picture: what they do to each pass of its job."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from engine.api.lora import LoraMode, LoraReport
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.pipeline.denoise.lora_stretches import NO_LORAS, PassLoras
from engine.text.lora_strengths import RunLength


@dataclass(frozen=True, slots=True, eq=False)
class PictureLoras:
    """The LoRAs of a picture: `passes` has those of the base's pass, then those of a refiner's.

    Pictures of the same `key` have the same LoRAs and share networks. `reports` are for the record;
    `embeddings` are those that the LoRAs' files bundle, by name.
    """

    key: Hashable = ()
    passes: tuple[PassLoras, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    reports: tuple[LoraReport, ...] = ()
    embeddings: Mapping[str, Embedding] = field(default_factory=dict[str, Embedding])
    # The mode that was chosen for the request, for the record; None without LoRAs that act.
    mode: LoraMode | None = None

    def of_pass(self, number: int) -> PassLoras:
        """Return the LoRAs of a pass, by its number from 0."""
        return self.passes[number] if number < len(self.passes) else NO_LORAS


WITHOUT_LORAS = PictureLoras()

# Reads the LoRAs that the request of one picture names, for a run of this length. Raises
# EngineError.
ReadLoras = Callable[[ResolvedRequest, RunLength], PictureLoras]


def no_loras(_request: ResolvedRequest, _run: RunLength) -> PictureLoras:
    """Return no LoRAs, whatever the request names."""
    return WITHOUT_LORAS
