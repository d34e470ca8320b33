"""The second passes of a request: the settings of each, without gaps."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from engine.api.conventions import Convention, RedrawSteps
from engine.api.limits import MAX_SIDE, MIN_SIDE
from engine.api.methods import SAMPLER_FACTS, sampler_options_of, schedule_options_of
from engine.api.record import ResolvedRequest
from engine.api.request import SizeOptions
from engine.api.second_passes import LATENT_UPSCALERS, SecondPass
from engine.api.second_sizes import SecondSize, second_size
from engine.api.sentences import sentence
from engine.api.values import ConventionName
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.ranges import check_range, invalid


@dataclass(frozen=True, slots=True, eq=False)
class SecondRun:
    """A second pass: what was asked for, its checkpoint, its own request and its size.

    `number` counts the second passes from 0. `before` is the checkpoint of the pass before, and
    `drawn_before` the number of evaluations that all of the first run's steps take.
    """

    number: int
    wanted: SecondPass
    checkpoint: IdentifiedCheckpoint
    before: IdentifiedCheckpoint
    request: ResolvedRequest
    size: SecondSize
    drawn_before: int

    @property
    def enlarges_latent(self) -> bool:
        """True if the latent is enlarged, and not the decoded picture."""
        return self.wanted.upscaler in LATENT_UPSCALERS


def second_runs(request: ResolvedRequest, checkpoints: JobCheckpoints) -> tuple[SecondRun, ...]:
    """Return the second passes of a request, in order.

    Raises EngineError(REQUEST_INVALID) for sizes that no picture may have, and for a checkpoint
    that edits pictures by instruction.
    """
    return tuple(_runs(request, checkpoints))


def _runs(request: ResolvedRequest, checkpoints: JobCheckpoints) -> Iterator[SecondRun]:
    size = request.width, request.height
    drawn = request.steps * SAMPLER_FACTS[request.sampler].evaluations
    passes, neighbours = request.second_passes, pairwise(checkpoints.runs)
    every = zip(passes, checkpoints.seconds, neighbours, strict=True)
    for number, (wanted, chosen, (before, own)) in enumerate(every):
        features = own.architecture.features
        if features.edits:
            what = sentence("{path} edits a picture, and draws none twice.", path=own.path.name)
            raise invalid(what, sentence("Leave the second passes out."))
        if (wanted.width is None) != (wanted.height is None):
            what = sentence("A second pass has either both a width and a height or neither.")
            raise invalid(what, sentence("Without them it is as many times as large as it says."))
        found = second_size(size, wanted, request.convention, features.size_multiple)
        for name, side in zip(("width", "height"), found.size, strict=True):
            check_range(f"{name} of a second pass", side, MIN_SIDE, MAX_SIDE)
        resolved = _request_of(request, wanted, own, found, chosen)
        yield SecondRun(number, wanted, own, before, resolved, found, drawn)
        size = found.size


def _request_of(
    request: ResolvedRequest,
    wanted: SecondPass,
    checkpoint: IdentifiedCheckpoint,
    size: SecondSize,
    chosen: IdentifiedCheckpoint | None,
) -> ResolvedRequest:
    """Return the request with the settings of a second pass; the first's where it has none."""
    features = checkpoint.architecture.features
    taken = ("steps", "guidance", "sampler", "schedule", "prompt", "negative_prompt", "seed")
    given = {name: getattr(wanted, name) for name in taken}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if wanted.sampler is not None:
        changes["sampler_options"] = sampler_options_of(wanted.sampler, request.sampler_options)
    if wanted.schedule is not None:
        options = schedule_options_of(wanted.schedule, request.schedule_options)
        changes["schedule_options"] = options
    if chosen is not None:
        changes["zero_terminal_snr"] = chosen.zero_terminal_snr
        changes["clip_skip"] = min(request.clip_skip, max(features.deepest_clip_skip, 1))
    return msgspec.structs.replace(
        request,
        width=size.size[0],
        height=size.size[1],
        strength=wanted.strength,
        convention=_convention(request.convention, wanted),
        size_options=_told(request, size),
        **changes,
    )


def _convention(convention: Convention, wanted: SecondPass) -> Convention:
    """Return the convention for a second pass.

    A1111 takes all of its steps whatever the strength, and a latent is not drawn from a
    distribution again.
    """
    changes: dict[str, Any] = {}
    if convention.redraw_steps is RedrawSteps.A1111:
        changes["redraw_steps"] = RedrawSteps.A1111_EXACT
    if wanted.upscaler in LATENT_UPSCALERS:
        changes["samples_encoded"] = False
    return msgspec.structs.replace(convention, **changes)


def _told(request: ResolvedRequest, size: SecondSize) -> SizeOptions:
    """Return the sizes that the denoiser is told of: in A1111 those before the cut."""
    options = request.size_options
    if request.convention.name is not ConventionName.A1111 or size.enlarged == size.size:
        return options
    return msgspec.structs.replace(
        options,
        original=options.original or size.enlarged,
        target=options.target or size.enlarged,
    )
