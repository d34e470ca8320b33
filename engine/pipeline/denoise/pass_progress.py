"""The progress of a picture over all of its passes."""

from collections.abc import Iterator, Sequence

import msgspec

from engine.api.values import Phase
from engine.families.latents import LatentFormat
from engine.pipeline.denoise.passes import DenoisingPass
from engine.pipeline.forecast import PhaseEstimate
from engine.pipeline.stages import Reporter
from engine.sampling.types import Latent


class CountedReporter(msgspec.Struct, frozen=True):
    """A `Reporter` that counts the steps of a run among those of all runs of a picture."""

    inner: Reporter
    before: int
    total: int

    def expect(self, estimate: PhaseEstimate) -> None:
        """Pass on the estimate."""
        self.inner.expect(estimate)

    def phase(self, phase: Phase) -> None:
        """Pass on the start of a phase."""
        self.inner.phase(phase)

    def progress(self, done: int, total: int) -> None:
        """Report the steps done of all runs."""
        self.inner.progress(self.before + done, self.total)

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Pass on the latent of a step, counted from the first run on."""
        self.inner.preview(self.before + step, latent, form)


def counted_reporters(passes: Sequence[DenoisingPass], reporter: Reporter) -> Iterator[Reporter]:
    """Yield the reporter for each pass; `reporter` itself where there is only one run."""
    steps = {pass_.run: pass_.denoising.steps for pass_ in reversed(passes)}
    total = sum(steps.values())
    for pass_ in passes:
        if len(steps) == 1:
            yield reporter
        else:
            before = sum(count for run, count in steps.items() if run < pass_.run)
            yield CountedReporter(reporter, before, total)
