"""The second passes of a request: the settings of each, without gaps."""

from collections.abc import Iterator
from typing import Any

import msgspec

from engine.api.conventions import Convention
from engine.api.limits import MAX_SIDE, MIN_SIDE
from engine.api.methods import SAMPLER_FACTS, sampler_options_of, schedule_options_of
from engine.api.record import ResolvedRequest
from engine.api.redraw_steps import second_pass_rule
from engine.api.request import SizeOptions
from engine.api.second_passes import LATENT_UPSCALERS, SecondPass
from engine.api.second_sizes import SecondSize, second_size
from engine.api.sentences import sentence
from engine.api.values import ConventionName
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.ranges import check_range, invalid


class SecondRun(msgspec.Struct, frozen=True, eq=False):
    """A second pass: what was asked for, its checkpoint, its own request and its size.

    `number` counts the second passes from 0. `drawn_before` is the number of evaluations that all
    of the first run's steps take.
    """

    number: int
    wanted: SecondPass
    checkpoint: IdentifiedCheckpoint
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
    every = zip(request.second_passes, checkpoints.runs[1:], strict=True)
    for number, (wanted, own) in enumerate(every):
        features = own.architecture.features
        if features.edits:
            what = sentence("{path} edits a picture, and draws none twice.", path=own.path.name)
            raise invalid(what, sentence("Leave the second passes out."))
        found = second_size(size, wanted, request.convention, features.size_multiple)
        for name, side in zip(("width", "height"), found.size, strict=True):
            check_range(f"{name} of a second pass", side, MIN_SIDE, MAX_SIDE)
        resolved = _request_of(request, wanted, checkpoints.first, own, found)
        yield SecondRun(number, wanted, own, resolved, found, drawn)
        size = found.size


def _request_of(
    request: ResolvedRequest,
    wanted: SecondPass,
    first: IdentifiedCheckpoint,
    own: IdentifiedCheckpoint,
    size: SecondSize,
) -> ResolvedRequest:
    """Return the request with the settings of a second pass; the first's where it has none."""
    taken = ("steps", "guidance", "sampler", "schedule", "prompt", "negative_prompt", "seed")
    given = {name: getattr(wanted, name) for name in taken}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if wanted.sampler is not None:
        changes["sampler_options"] = sampler_options_of(wanted.sampler, request.sampler_options)
    if wanted.schedule is not None:
        options = schedule_options_of(wanted.schedule, request.schedule_options)
        changes["schedule_options"] = options
    if own is not first:
        changes["zero_terminal_snr"] = own.zero_terminal_snr
        changes["clip_skip"] = followed_clip_skip(request, first, own)
    return msgspec.structs.replace(
        request,
        width=size.size[0],
        height=size.size[1],
        strength=wanted.strength,
        convention=_convention(request.convention, wanted),
        size_options=_told(request, size),
        **changes,
    )


def followed_clip_skip(
    request: ResolvedRequest, before: IdentifiedCheckpoint, own: IdentifiedCheckpoint
) -> int:
    """Return the CLIP skip for a checkpoint that goes on after another: the chosen or a default.

    The checkpoint's own default applies where the request has that of the one `before`.
    """
    features = own.architecture.features
    is_default = request.clip_skip == before.architecture.features.clip_skip
    skip = features.clip_skip if is_default else request.clip_skip
    return min(skip, max(features.deepest_clip_skip, 1))


def _convention(convention: Convention, wanted: SecondPass) -> Convention:
    """Return the convention for a second pass: a latent is not drawn from a distribution again."""
    changes: dict[str, Any] = {"redraw_steps": second_pass_rule(convention.redraw_steps)}
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
