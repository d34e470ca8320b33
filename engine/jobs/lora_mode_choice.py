"""The choice of the mode of LoRAs on a device: merged weights, or side branches at every step.

Merging makes steps no slower, but computes and loads the denoiser's weights anew. Side branches
begin at once. A new combination of LoRAs and strengths may be one of many that a person tries with
a slider, so it gets branches unless the whole job would take clearly longer; a combination that is
wanted again is merged once that saves time. The times are those that this machine has taken before.
Where compiled networks carry their weights and cannot take others, each strength would be compiled
for minutes, while one network with side branches serves all.
"""

from dataclasses import dataclass, field

from backends.base import Precision
from engine.api.evaluations import GuidedSampling
from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.compile.estimates import Estimates, Kind, Work
from engine.compile.network import Preparation, name_with_branches, name_with_patches
from engine.compile.refit_failures import RefitFailures
from engine.devices.choice import Candidate
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.pipeline.lora_patches import LoraCombination
from engine.pipeline.place import precisions
from engine.text.lora_strengths import RunLength
from engine.wanted_counts import WantedCounts
from engine.weights.side_branches import SideBranches

# The time that a step with side branches takes longer for each of their ranks, in steps without: a
# sixth for rank 32 (`python -m benchmarks lora`). So it is taken to be until runs of some jobs were
# timed: after a single one on a busy machine no job might have branches, and none be timed, again.
_SHARE_OF_RANK = 1 / 6 / 32
_LEAST_TIMED = 3
# The share of a job's time that beginning at once may cost with a combination that is new.
_PATIENCE = 0.15
# The share by which branches may make steps longer where no step was timed on this machine yet.
_UNTIMED_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class LoraModeChoice:
    """A `PrefersSide` for a job of `count` pictures on a device, by the times in `estimates`.

    `wanted` counts the jobs with each combination. The same one gets the same answer throughout a
    job, unless the device has failed to take other weights meanwhile.
    """

    estimates: Estimates
    refit_failures: RefitFailures
    wanted: WantedCounts
    candidate: Candidate
    count: int
    # False for a plan that nobody may carry out: it is not counted.
    is_wanted: bool = True
    # How often each combination was wanted by earlier jobs.
    _earlier: dict[str, int] = field(default_factory=dict[str, int], init=False, repr=False)

    def __call__(
        self, request: ResolvedRequest, run: RunLength, combination: LoraCombination
    ) -> bool:
        """Return True if the denoiser should have side branches.

        True where each set of weights would be compiled. Else False where some of the changes must
        be merged anyway, where branches would need more memory, and where another network would be
        compiled for them first. A device that has made nothing yet begins at once, too, unless the
        rank is high.
        """
        device, branches = self.candidate.device, combination.branches
        checkpoint = combination.checkpoint
        if self.refit_failures.compiles_each(self.candidate.backend, device):
            return True
        if self.candidate.backend.compilation(device) is not None:
            return False
        precision = precisions(request.precision, device)[0]
        if branches is None or branches.nbytes > _merged_bytes(checkpoint, branches, precision):
            return False
        earlier = self._wanted_before(combination.key)
        cells, times = self._asked(request, run, checkpoint)
        denoise = Phase.DENOISE.value
        denoiser = _denoiser_of(checkpoint)
        merged = self._seconds(precision, denoise, denoiser, cells, times)
        share = _SHARE_OF_RANK * branches.rank
        if merged is None:
            return not earlier and share <= _UNTIMED_SHARE
        loading = self._loading(checkpoint, precision)
        name = name_with_branches(denoiser, branches.rank)
        beside = self._seconds(precision, denoise, name, cells, times, least=_LEAST_TIMED)
        more = merged * share if beside is None else beside - merged
        if not earlier:
            return more < loading + _PATIENCE * (loading + merged)
        # Whoever wanted a combination n times may want it as often again: merging then pays once
        # branches would have cost its time, with those of the earlier jobs.
        return more * (1 + earlier) < loading

    def _asked(
        self, request: ResolvedRequest, run: RunLength, checkpoint: IdentifiedCheckpoint
    ) -> tuple[int, float]:
        """Return the cells of a latent, and the number of predictions that the job asks for."""
        cell = checkpoint.latent.downscale
        cells = (request.height // cell) * (request.width // cell)
        sampling = GuidedSampling.of(request, checkpoint.architecture.features)
        return cells, sampling.predictions(run.steps) * self.count

    def _wanted_before(self, key: str) -> int:
        """Return the number of earlier jobs that wanted a combination; count this job once."""
        if key not in self._earlier:
            asked = self.wanted.add if self.is_wanted else self.wanted.of
            self._earlier[key] = asked(key)
        return self._earlier[key]

    def _loading(self, checkpoint: IdentifiedCheckpoint, precision: Precision) -> float:
        """Return the seconds that computing and loading merged weights take.

        Until that was timed, those of loading the weights as they are, which are fewer.
        """
        name = _denoiser_of(checkpoint)
        weights = checkpoint.components[Component.DENOISER].weights.values()
        size = sum(weight.elements for weight in weights) * precision.dtype.itemsize
        loads = (
            self._seconds(precision, activity.value, loaded, size)
            for loaded in (name_with_patches(name), name)
            for activity in (Preparation.LOAD, Preparation.CONVERT)
        )
        return next((known for known in loads if known is not None), 0.0)

    def _seconds(
        self,
        precision: Precision,
        activity: str,
        network: str,
        size: float,
        times: float = 1,
        least: int = 1,
    ) -> float | None:
        device = self.candidate.device
        kind = Kind(activity, network, device.backend, device.name, precision.value)
        return self.estimates.expect(Work(kind, size, times), least)


def _denoiser_of(checkpoint: IdentifiedCheckpoint) -> str:
    """Return the name under which a checkpoint's denoiser is timed: others draw second passes."""
    return f"{checkpoint.network_prefix}{Component.DENOISER.value}"


def _merged_bytes(
    checkpoint: IdentifiedCheckpoint, branches: SideBranches, precision: Precision
) -> int:
    """Return the bytes that the changed weights would take in memory if they were merged."""
    weights = checkpoint.components[Component.DENOISER].weights
    elements = sum(weights[f"{layer}.weight"].elements for layer in branches.layers)
    return elements * precision.dtype.itemsize
