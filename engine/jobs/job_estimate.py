"""The estimate of a job on a device: its networks, and the seconds it should take."""

from collections.abc import Sequence

import msgspec

from backends.base import Precision
from engine.api.speed import denoising_trials
from engine.api.values import Phase
from engine.compile.compiler import Compiler
from engine.compile.estimates import Estimates
from engine.compile.network import Network, Preparation
from engine.compile.prepared import PreparedNetwork
from engine.memory.plan import MemoryPlan
from engine.pipeline.forecast import Forecast, Run


class JobEstimate(msgspec.Struct, frozen=True):
    """The networks that a job loads on a device, and the time that its pictures should take.

    `seconds` is None where no such pictures were timed before; `trials` is the same time, as a
    rough number of trials of the device.
    """

    compiler: Compiler
    precisions: tuple[Precision, ...]
    memory: MemoryPlan
    networks: tuple[Network, ...]
    checkpoint: str
    seconds: float | None
    trials: float

    def missing(self) -> tuple[Network, ...]:
        """Return the networks that still have to be compiled."""
        return tuple(
            network
            for network in self.networks
            if self.prepared(network).preparation() is Preparation.COMPILE
        )

    def prepared(self, network: Network) -> PreparedNetwork:
        """Return the network prepared for the device, in the first precision to try."""
        return self.compiler.prepared(network, self.precision(network))

    def precision(self, network: Network) -> Precision:
        """Return the first precision to try for a network."""
        return network.precisions(self.precisions)[0]


def estimate_job(
    compiler: Compiler,
    precisions: tuple[Precision, ...],
    memory: MemoryPlan,
    runs: Sequence[Run],
    pictures: int,
    estimates: Estimates,
) -> JobEstimate:
    """Return the estimate of a job of `pictures` pictures; `runs` are those of the first one."""
    networks = {network.name: network for run in runs for network in run.networks}
    forecast = Forecast(estimates, compiler)
    drawing = [run for run in runs if run.per_picture and run.network is not None]
    expected = [
        estimates.expect(forecast.running(run, run.network.precisions(precisions)[0]).work)
        for run in drawing
        if run.network is not None
    ]
    known = [seconds for seconds in expected if seconds is not None]
    return JobEstimate(
        compiler=compiler,
        precisions=precisions,
        memory=memory,
        networks=tuple(networks.values()),
        checkpoint=next((network.checkpoint for network in networks.values()), ""),
        seconds=pictures * sum(known) if len(known) == len(expected) else None,
        trials=pictures * sum(map(_trials, runs)),
    )


def _trials(run: Run) -> float:
    if run.phase is not Phase.DENOISE or run.network is None:
        return 0.0
    weights = sum(ref.elements for network in run.networks for ref in network.weights.values())
    return denoising_trials(weights, run.size, run.times)
