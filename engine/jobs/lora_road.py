"""The road of LoRAs that a device should take: merged weights, or side branches at every step.

Merging makes steps no slower, but computes and loads the denoiser's weights anew. Where the run is
short, side branches may cost less; the times are those that this machine has taken before. Where
compiled networks carry their weights and cannot take others, each strength would be compiled for
minutes, while one network with side branches serves all.
"""

from dataclasses import dataclass

from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.compile.estimates import Estimates, Kind, Work
from engine.compile.network import Preparation, name_with_branches, name_with_patches
from engine.compile.refit_failures import RefitFailures
from engine.devices.choice import Candidate
from engine.families.base import Component, IdentifiedCheckpoint
from engine.pipeline.place import precisions
from engine.text.lora_strengths import RunLength

# The time of a step with side branches, in steps without, until one was timed.
_SHARE_WITH_BRANCHES = 1.25
_DENOISER = "denoiser"


@dataclass(frozen=True, slots=True)
class LoraRoad:
    """A `PrefersSide` for `count` pictures on a device, by the times in `estimates`."""

    estimates: Estimates
    refit_failures: RefitFailures
    candidate: Candidate
    checkpoint: IdentifiedCheckpoint
    count: int

    def __call__(self, request: ResolvedRequest, run: RunLength) -> bool:
        """Return True if side branches should take less time than merging for the same steps.

        True where each set of weights would be compiled; else False while loading merged weights
        or a step without LoRAs was never timed here.
        """
        device = self.candidate.device
        if self.refit_failures.compiles_each(self.candidate.backend, device):
            return True
        precision = precisions(request.precision, device)[0]

        def seconds(activity: str, network: str, size: float, times: float = 1) -> float | None:
            kind = Kind(activity, network, device.backend, device.name, precision.value)
            return self.estimates.expect(Work(kind, size, times))

        cell = self.checkpoint.latent.downscale
        cells = (request.height // cell) * (request.width // cell)
        times = run.evaluations * (1 + (request.guidance != 1)) * self.count
        denoise = Phase.DENOISE.value
        merged = seconds(denoise, _DENOISER, cells, times)
        weights = self.checkpoint.components[Component.DENOISER].weights.values()
        size = sum(weight.elements for weight in weights) * precision.dtype.itemsize
        loads = (
            seconds(activity.value, name_with_patches(_DENOISER), size)
            for activity in (Preparation.LOAD, Preparation.CONVERT)
        )
        loading = next((known for known in loads if known is not None), None)
        if merged is None or loading is None:
            return False
        beside = seconds(denoise, name_with_branches(_DENOISER), cells, times)
        return (beside or _SHARE_WITH_BRANCHES * merged) - merged < loading
