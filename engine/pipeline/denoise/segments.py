"""The segments of a picture's run: all of it, or the base's steps and then the refiner's.

A1111 changes the denoiser under a running sampler (`sd_samplers_common.apply_refiner`). To do this
without both denoisers in memory, the refiner's segment runs the sampler again from its beginning
and replays the base's predictions, which are small; the sampler's own arithmetic costs little.
ComfyUI (`KSamplerAdvanced`, start_at_step and end_at_step) and diffusers (`denoising_end` and
`denoising_start`) start another run of the sampler where the first one ended.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import msgspec
import numpy as np

from engine.api.conventions import RefinerHandover
from engine.api.methods import SAMPLER_FACTS
from engine.api.noise_rules import StepSeed
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName
from engine.pipeline.denoise.denoising import (
    Beginning,
    ConditionedNetwork,
    Denoising,
    EncodedCanvas,
)
from engine.sampling.schedules.redraw import A1111Steps
from engine.sampling.types import GuidedDenoise, Latent, NoiseSource, Step

_TIMESTEPS = 1000

Answer = Latent | tuple[Latent, Latent]


class Handover(msgspec.Struct, frozen=True, eq=False):
    """The state that the base's segment leaves to the refiner's.

    `x` holds the latents after the base's last whole step, None if it took none. `answers` are the
    base's denoised latents, kept where the sampler is run again; `noise_draws` counts the noise
    draws of its steps.
    """

    x: Latent | None = None
    steps: int = 0
    evaluations: int = 0
    noise_draws: int = 0
    answers: tuple[Answer, ...] = ()


class SegmentResult(msgspec.Struct, frozen=True, eq=False):
    """The latents at the end of a segment, ready to be decoded unless there is a handover."""

    latent: Latent
    handover: Handover | None = None


class SegmentRun(Protocol):
    """One attempt at a segment; after a broken result a new attempt is made."""

    @property
    def beginning(self) -> Beginning:
        """The first latents, the noise, the kept part and the concatenated channels."""
        ...

    def steps(self, network: ConditionedNetwork) -> Iterator[Step]:
        """Yield the sampler's steps."""
        ...

    def finish(self, x: Latent) -> SegmentResult:
        """Return the segment's result for the latents of the last step."""
        ...


class RunSegment(Protocol):
    """A part of a picture's run that one checkpoint takes, or all of it."""

    @property
    def first_step(self) -> int:
        """The number of steps taken before this segment."""
        ...

    @property
    def first_evaluation(self) -> int:
        """The number of denoiser evaluations made before this segment."""
        ...

    def begin(self, request: ResolvedRequest, canvas: EncodedCanvas) -> SegmentRun:
        """Start an attempt at the picture of this request."""
        ...

    def progress(self, step: Step) -> tuple[int, int]:
        """Return the number of steps of the whole run done after `step`, and the number of all."""
        ...


class WholeRun(msgspec.Struct, frozen=True, eq=False):
    """The segment that is a picture's whole run, taken by one checkpoint."""

    denoising: Denoising
    first_step: int = 0
    first_evaluation: int = 0

    def begin(self, request: ResolvedRequest, canvas: EncodedCanvas) -> SegmentRun:
        """Start an attempt from seeded noise, added to the canvas if there is one."""
        return _WholeAttempt(self.denoising, self.denoising.start(request, canvas))

    def progress(self, step: Step) -> tuple[int, int]:
        """Return the number of steps done and of all steps, as the sampler counts them."""
        return self.denoising.progress(step)


class _WholeAttempt(msgspec.Struct, frozen=True, eq=False):
    denoising: Denoising
    beginning: Beginning

    def steps(self, network: ConditionedNetwork) -> Iterator[Step]:
        return self.denoising.sample(
            self.denoising.denoise(self.beginning, network), self.beginning
        )

    def finish(self, x: Latent) -> SegmentResult:
        return SegmentResult(self.denoising.finish(x, self.beginning.kept))


class _Switch(msgspec.Struct, frozen=True):
    """The rule by which A1111 changes the denoiser; `share` of the run is the base's."""

    denoising: Denoising
    share: float
    # The evaluations of the whole run; None where the noise level decides instead.
    evaluations: int | None

    def is_due(self, sigma: np.float32, evaluated: int) -> bool:
        """True if the refiner takes over at this noise level, after `evaluated` evaluations."""
        if self.evaluations is not None:
            return evaluated / self.evaluations >= self.share
        timestep = self.denoising.nearest_timestep(sigma)
        return (_TIMESTEPS - 1 - timestep) / _TIMESTEPS >= self.share


class RefinerSplit(msgspec.Struct, frozen=True, eq=False):
    """The step at which a run changes from the base to the refiner, by the request's convention.

    `end` is the refiner's first step; None where `switch` decides during the run. `known_end` is
    `end` where the base's sampler gets only the levels up to it, as in ComfyUI; else None.
    """

    base: Denoising
    refiner: Denoising
    end: int | None
    switch: _Switch | None
    known_end: int | None
    # Denoiser evaluations in each step.
    evaluations: int

    @property
    def skips_base(self) -> bool:
        """True if the refiner takes all steps."""
        return self.end == 0


class BaseSegment(msgspec.Struct, frozen=True, eq=False):
    """The base checkpoint's part of a run that it shares with a refiner."""

    split: RefinerSplit
    first_step: int = 0
    first_evaluation: int = 0

    def begin(self, request: ResolvedRequest, canvas: EncodedCanvas) -> SegmentRun:
        """Start an attempt from seeded noise, added to the canvas if there is one."""
        beginning = self.split.base.start(request, canvas, 0, self.split.known_end)
        noise = _CountedNoise(beginning.noise)
        return _BaseAttempt(self.split, msgspec.structs.replace(beginning, noise=noise), noise)

    def progress(self, step: Step) -> tuple[int, int]:
        """Return the number of steps done and of all steps of the whole run."""
        return self.split.base.progress(step)


class _BaseAttempt(msgspec.Struct, eq=False):
    split: RefinerSplit
    beginning: Beginning
    noise: "_CountedNoise"
    taken: int = 0
    x: Latent | None = None
    hands_over: bool = False
    answers: list[Answer] = msgspec.field(default_factory=list[Answer])

    def steps(self, network: ConditionedNetwork) -> Iterator[Step]:
        """Yield the base's steps, without the unfinished one in which the refiner takes over."""
        split, denoising = self.split, self.split.base
        self.hands_over = split.end is not None and split.end < denoising.steps
        denoise = denoising.denoise(self.beginning, network)
        if split.switch is not None:
            denoise = ReplayDenoiser(denoise, self.answers, split.switch)
        steps = denoising.sample(denoise, self.beginning, 0, split.known_end)
        try:
            for step in islice(steps, split.end):
                self.x, self.taken = step.x, self.taken + 1
                yield step
        except _HandedOver:
            self.hands_over = True

    def finish(self, x: Latent) -> SegmentResult:
        """Return the latents and a handover, or finished latents if the base took all steps."""
        if not self.hands_over:
            return SegmentResult(self.split.base.finish(x, self.beginning.kept))
        evaluations = len(self.answers) or self.taken * self.split.evaluations
        return SegmentResult(
            x, Handover(self.x, self.taken, evaluations, self.noise.draws, tuple(self.answers))
        )


class RefinerSegment(msgspec.Struct, frozen=True, eq=False):
    """The refiner's part of a run, which continues from the base's handover."""

    split: RefinerSplit
    handover: Handover

    @property
    def first_step(self) -> int:
        """The number of steps that the base took."""
        return self.handover.steps

    @property
    def first_evaluation(self) -> int:
        """The number of denoiser evaluations that the base made."""
        return self.handover.evaluations

    def begin(self, request: ResolvedRequest, canvas: EncodedCanvas) -> SegmentRun:
        """Start at the base's first step if its answers are replayed, else at its last."""
        split, handover = self.split, self.handover
        if split.end is None:
            # A refiner has no input channels beside those of the latents.
            beginning = msgspec.structs.replace(
                split.base.start(request, canvas), concatenated=None
            )
            return _ReplayAttempt(split, handover, beginning)
        beginning = split.refiner.start(request, canvas, split.end)
        if request.convention.step_seed is StepSeed.CONTINUED:
            for _ in range(handover.noise_draws):
                beginning.noise(np.float32(0), np.float32(0))
        if handover.x is not None:
            beginning = msgspec.structs.replace(beginning, x=handover.x)
        return _ContinuedAttempt(split, split.end, beginning)

    def progress(self, step: Step) -> tuple[int, int]:
        """Return the number of steps done and of all steps of the whole run."""
        begun, total = self.split.end or 0, self.split.base.steps
        return begun + step.progress(total - begun), total


class _ReplayAttempt(msgspec.Struct, frozen=True, eq=False):
    """The refiner's steps by replay: the sampler's whole run, with the base's answers first."""

    split: RefinerSplit
    handover: Handover
    beginning: Beginning

    def steps(self, network: ConditionedNetwork) -> Iterator[Step]:
        """Yield the steps from the first in which the refiner is evaluated."""
        denoise = self.split.refiner.denoise(self.beginning, network)
        replayed = ReplayDenoiser(denoise, list(self.handover.answers))
        steps = self.split.base.sample(replayed, self.beginning)
        return islice(steps, self.handover.steps, None)

    def finish(self, x: Latent) -> SegmentResult:
        return SegmentResult(self.split.base.finish(x, self.beginning.kept))


class _ContinuedAttempt(msgspec.Struct, frozen=True, eq=False):
    """The refiner's steps by a new run of the sampler, from the step where the base's run ended."""

    split: RefinerSplit
    first: int
    beginning: Beginning

    def steps(self, network: ConditionedNetwork) -> Iterator[Step]:
        denoise = self.split.refiner.denoise(self.beginning, network)
        return self.split.refiner.sample(denoise, self.beginning, self.first)

    def finish(self, x: Latent) -> SegmentResult:
        return SegmentResult(self.split.refiner.finish(x, self.beginning.kept))


class _CountedNoise(msgspec.Struct, eq=False):
    """A noise source that counts its draws."""

    inner: NoiseSource
    draws: int = 0

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        self.draws += 1
        return self.inner(sigma, sigma_next)


class _HandedOver(Exception):  # noqa: N818
    """Ends the base's run when the sampler asks for the refiner's first prediction."""


class ReplayDenoiser(msgspec.Struct, eq=False):
    """A `GuidedDenoise` that replays known answers first, then calls `inner`.

    With a `switch` it appends each new answer to `answers`, and raises `_HandedOver` once the
    refiner has to take over.
    """

    inner: GuidedDenoise
    answers: list[Answer]
    switch: _Switch | None = None
    replayed: int = 0

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
        if self.replayed < len(self.answers):
            self.replayed += 1
            return self.answers[self.replayed - 1]
        if self.switch is not None and self.switch.is_due(sigma, len(self.answers)):
            raise _HandedOver
        return None

    def _note(self, answer: Answer) -> None:
        if self.switch is not None:
            self.answers.append(answer)
            self.replayed += 1


def split_run(request: ResolvedRequest, base: Denoising, refiner: Denoising) -> RefinerSplit:
    """Find the step at which the refiner takes over, by the request's convention."""
    assert request.refiner is not None, "there is a refiner"
    share, rule = request.refiner.switch_at, request.convention.refiner_handover
    evaluations = SAMPLER_FACTS[request.sampler].evaluations
    switch, end = None, None
    match rule:
        case RefinerHandover.LEVEL:
            switch = _Switch(base, share, None)
        case RefinerHandover.EVALUATION:
            switch = _Switch(base, share, _a1111_steps(request, base) * evaluations)
        case RefinerHandover.TIMESTEP:
            lowest = round(_TIMESTEPS * (1 - share))
            end = sum(timestep >= lowest for timestep in base.timesteps())
        case RefinerHandover.STEP:
            end = round(share * base.steps)
    known_end = end if request.convention.name is ConventionName.COMFY else None
    return RefinerSplit(base, refiner, end, switch, known_end, evaluations)


def _a1111_steps(request: ResolvedRequest, base: Denoising) -> int:
    """Return the number of steps by which A1111 counts (`launch_sampling`).

    A sampler that works by timesteps takes fewer.
    """
    if not base.redraws:
        return request.steps
    rule = request.convention.redraw_steps
    return A1111Steps.of(request.steps, request.strength, rule).taken + 1
