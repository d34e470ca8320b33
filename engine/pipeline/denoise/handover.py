"""The hand-over from a checkpoint to its refiner: who takes which part of a picture's run.

A1111 changes the denoiser under a running sampler (`sd_samplers_common.apply_refiner`). Two of them
need not be in memory for that: the refiner's part runs the sampler once more from its beginning, to
which the answers of the first are played back; they are small, and the sampler's own work is.
ComfyUI (`KSamplerAdvanced`, start_at_step and end_at_step) and diffusers (`denoising_end` and
`denoising_start`) start another run of the sampler where the first left off.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

import numpy as np

from engine.api.conventions import RefinerHandover, StepSeed
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName
from engine.pipeline.denoise.denoising import Beginning, Denoising, EncodedCanvas
from engine.sampling.denoiser import Predict
from engine.sampling.masking import Kept
from engine.sampling.samplers import SAMPLERS
from engine.sampling.schedules.redraw import a1111_redrawn
from engine.sampling.types import GuidedDenoise, Latent, NoiseSource, Step

_TIMESTEPS = 1000


class Leg(Protocol):
    """The part of a picture's run that one checkpoint takes; `Denoising` takes all of it."""

    def start(self, request: ResolvedRequest, canvas: EncodedCanvas) -> Beginning:
        """Where it begins."""
        ...

    def run(
        self, beginning: Beginning, predict: Predict, weights: tuple[float, ...]
    ) -> Iterator[Step]:
        """Its steps."""
        ...

    def finish(self, x: Latent, kept: Kept | None) -> Latent:
        """What it hands on, from the latents of its last step."""
        ...

    def progress(self, step: Step) -> tuple[int, int]:
        """How many steps of the whole run lie behind, and of how many."""
        ...

    @property
    def begun(self) -> int:
        """How many steps were taken before."""
        ...

    @property
    def evaluated(self) -> int:
        """How often a denoiser was asked before."""
        ...


@dataclass(slots=True, eq=False)
class _Counted:
    """Noise that tells how often it was drawn."""

    inner: NoiseSource
    drawn: int = 0

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        self.drawn += 1
        return self.inner(sigma, sigma_next)


class _HandedOver(Exception):  # noqa: N818
    """The sampler asked for what the refiner is to answer."""


Answer = Latent | tuple[Latent, Latent]


@dataclass(slots=True, eq=False)
class _Relay:
    """A `GuidedDenoise` that plays answers back, and then asks; what it hears it writes down.

    Where it is not the last, it raises `_HandedOver` once the next one is to answer.
    """

    inner: GuidedDenoise
    answers: list[Answer]
    switch: "_Switch | None" = None
    played: int = 0

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        known = self._known(sigma)
        if known is None:
            known = self.inner(x, sigma)
            self._note(known)
        assert isinstance(known, np.ndarray), "a sampler asks the same each time"
        return known

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        known = self._known(sigma)
        if known is None:
            known = self.inner.pair(x, sigma)
            self._note(known)
        assert isinstance(known, tuple), "a sampler asks the same each time"
        return known

    def _known(self, sigma: np.float32) -> Answer | None:
        if self.played < len(self.answers):
            self.played += 1
            return self.answers[self.played - 1]
        if self.switch is not None and self.switch.is_due(sigma, len(self.answers)):
            raise _HandedOver
        return None

    def _note(self, answer: Answer) -> None:
        if self.switch is not None:
            self.answers.append(answer)
            self.played += 1


@dataclass(frozen=True, slots=True)
class _Switch:
    """When A1111 changes the denoiser; `share` of the run is the first one's."""

    denoising: Denoising
    share: float
    # None where levels decide.
    evaluations: int | None

    def is_due(self, sigma: np.float32, evaluated: int) -> bool:
        """Whether the refiner answers at this level, after so many answers."""
        if self.evaluations is not None:
            return evaluated / self.evaluations >= self.share
        timestep = self.denoising.nearest_timestep(sigma)
        return (_TIMESTEPS - 1 - timestep) / _TIMESTEPS >= self.share


@dataclass(slots=True, eq=False)
class BaseLeg:
    """The first checkpoint's part of a run, and what it leaves to the refiner."""

    denoising: Denoising
    # The step that the refiner begins with; None where `switch` decides.
    end: int | None
    switch: _Switch | None
    # The end that the sampler is to know of, if any.
    told_end: int | None
    begun: int = 0
    evaluated: int = 0
    hands_over: bool = False
    x: Latent | None = None
    steps: int = 0
    drawn: int = 0
    answers: list[Answer] = field(default_factory=list[Answer])

    def start(self, request: ResolvedRequest, canvas: EncodedCanvas) -> Beginning:
        """Where the picture begins."""
        beginning = self.denoising.start(request, canvas, 0, self.told_end)
        return replace(beginning, noise=_Counted(beginning.noise))

    def run(
        self, beginning: Beginning, predict: Predict, weights: tuple[float, ...]
    ) -> Iterator[Step]:
        """Its steps, as far as they are whole."""
        self.steps, self.answers = 0, []
        self.hands_over = self.end is not None and self.end < self.denoising.steps
        denoise = self.denoising.denoise(beginning, predict, weights)
        if self.switch is not None:
            denoise = _Relay(denoise, self.answers, self.switch)
        steps = self.denoising.sample(denoise, beginning, 0, self.told_end)
        try:
            for step in islice(steps, self.end):
                self.x, self.steps = step.x, self.steps + 1
                yield step
        except _HandedOver:
            self.hands_over = True
        noise = beginning.noise
        self.drawn = noise.drawn if isinstance(noise, _Counted) else 0

    def finish(self, x: Latent, kept: Kept | None) -> Latent:
        """The latents as they are, or those to decode where there is no refiner's part."""
        return x if self.hands_over else self.denoising.finish(x, kept)

    def progress(self, step: Step) -> tuple[int, int]:
        """As of the whole run."""
        return self.denoising.progress(step)


@dataclass(slots=True, eq=False)
class RefinerLeg:
    """The refiner's part of a run."""

    base: BaseLeg
    refiner: Denoising
    evaluations: int

    @property
    def begun(self) -> int:
        """How many steps the first denoiser took."""
        return self.base.steps

    @property
    def evaluated(self) -> int:
        """How often the first denoiser was asked."""
        return len(self.base.answers) or self.base.steps * self.evaluations

    def start(self, request: ResolvedRequest, canvas: EncodedCanvas) -> Beginning:
        """Where the first part began, if its answers are played back, else where it ended."""
        if self.base.end is None:
            return self.base.denoising.start(request, canvas)
        beginning = self.refiner.start(request, canvas, self.base.end)
        if request.convention.step_seed is StepSeed.CONTINUED:
            for _ in range(self.base.drawn):
                beginning.noise(np.float32(0), np.float32(0))
        return beginning if self.base.x is None else replace(beginning, x=self.base.x)

    def run(
        self, beginning: Beginning, predict: Predict, weights: tuple[float, ...]
    ) -> Iterator[Step]:
        """Its steps, from the first that it had a part in."""
        denoise = self.refiner.denoise(beginning, predict, weights)
        if self.base.end is not None:
            return self.refiner.sample(denoise, beginning, self.base.end)
        played = _Relay(denoise, self.base.answers)
        return islice(self.base.denoising.sample(played, beginning), self.base.steps, None)

    def finish(self, x: Latent, kept: Kept | None) -> Latent:
        """The latents to decode."""
        last = self.base.denoising if self.base.end is None else self.refiner
        return last.finish(x, kept)

    def progress(self, step: Step) -> tuple[int, int]:
        """As of the whole run."""
        begun, total = self.base.end or 0, self.base.denoising.steps
        return begun + step.progress(total - begun), total


def legs(
    request: ResolvedRequest, base: Denoising, refiner: Denoising
) -> tuple[BaseLeg, RefinerLeg]:
    """The two parts of one picture's run, as the request's convention has them."""
    assert request.refiner is not None, "there is a refiner"
    share, rule = request.refiner.switch_at, request.convention.refiner_handover
    evaluations = SAMPLERS[request.sampler].evaluations
    switch, end = None, None
    match rule:
        case RefinerHandover.LEVEL:
            switch = _Switch(base, share, None)
        case RefinerHandover.EVALUATION:
            switch = _Switch(base, share, _announced(request, base) * evaluations)
        case RefinerHandover.TIMESTEP:
            lowest = round(_TIMESTEPS * (1 - share))
            end = sum(timestep >= lowest for timestep in base.timesteps())
        case RefinerHandover.STEP:
            end = round(share * base.steps)
    told_end = end if request.convention.name is ConventionName.COMFY else None
    first = BaseLeg(base, end, switch, told_end)
    return first, RefinerLeg(first, refiner, evaluations)


def _announced(request: ResolvedRequest, base: Denoising) -> int:
    """The steps that A1111 counts by (`launch_sampling`); samplers by timesteps take fewer."""
    if not base.redraws:
        return request.steps
    return a1111_redrawn(request.steps, request.strength) + 1
