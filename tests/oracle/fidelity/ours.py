"""The same picture from Safelight: from what is asked for to a request, and its pixels."""
# pyright: basic

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backends.base import Precision
from backends.registry import find
from engine.api.conventions import CONVENTIONS, Convention
from engine.api.noise_rules import InitialNoise, RandomSource, SdeNoise
from engine.api.prompt_rules import Emphasis, LengthMatching
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
)
from engine.api.values import ConventionName, InputRole, PrecisionName, SamplerName, ScheduleName
from engine.families import identify
from engine.jobs.reporting import SilentReporter
from engine.memory.residency import Residency
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.generate import Generation
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.picture_plan import plan_pictures
from engine.pipeline.place import place
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve
from tests.oracle.fidelity.picture import Picture
from tests.pipeline.jobs import make_stages
from tests.tiny_checkpoint import SIDE


@dataclass(frozen=True, slots=True)
class Asked:
    """Our names for a tool's: whose habits, which sampler, which schedule."""

    convention: ConventionName
    sampler: str
    # "" where the tool's sampler has levels of its own.
    schedule: str = ""


def request_of(asked: Asked, picture: Picture, checkpoint: Path, init: Path) -> GenerateRequest:
    """The request of a person who wants this picture from Safelight."""
    redrawn = picture.strength is not None
    return GenerateRequest(
        prompt=picture.prompt,
        negative_prompt=picture.negative,
        checkpoint=str(checkpoint),
        width=SIDE,
        height=SIDE,
        steps=picture.steps,
        seed=picture.seed,
        guidance=picture.guidance,
        clip_skip=picture.clip_skip,
        count=picture.batch_index + 1,
        sampler=SamplerName(asked.sampler),
        schedule=ScheduleName(asked.schedule) if asked.schedule else None,
        inputs=(InputImage(role=InputRole.INIT, path=str(init)),) if redrawn else (),
        strength=picture.strength,
        convention=_convention(asked, picture),
        sampler_options=SamplerOptions(
            eta=picture.eta,
            noise_scale=picture.noise_scale,
            churn=picture.churn,
            churn_from=picture.churn_from,
            churn_to=picture.churn_to,
        ),
        schedule_options=ScheduleOptions(
            sigma_min=picture.sigma_min, sigma_max=picture.sigma_max, rho=picture.rho
        ),
        seed_options=SeedOptions(
            variation_seed=picture.variation_seed,
            variation_strength=picture.variation_strength,
            resize_from=picture.resize_from,
            eta_seed_delta=picture.eta_seed_delta,
        ),
        guidance_options=GuidanceOptions(rescale=picture.rescale, range=picture.guided),
        zero_terminal_snr=picture.zero_terminal_snr,
        precision=PrecisionName.F32,
    )


def _convention(asked: Asked, picture: Picture) -> ConventionName | Convention:
    """The tool's habits, with what the picture changes of them."""
    habits = CONVENTIONS[asked.convention]
    changed: dict[str, object] = {"step_source": RandomSource(picture.source)}
    if asked.convention is ConventionName.A1111:
        changed["random_source"] = RandomSource(picture.source)
    if picture.sampler.endswith("_gpu"):
        changed["sde_noise"] = SdeNoise.BROWNIAN_CUDA
    if picture.widens_first_noise:
        changed["initial_noise"] = InitialNoise.VARIANCE
    if picture.emphasis:
        changed["emphasis"] = Emphasis(picture.emphasis)
    if picture.pads_chunks:
        changed["length_matching"] = LengthMatching.EMPTY_CHUNKS
    if picture.discards_next_to_last:
        changed["discards_next_to_last"] = tuple(SamplerName)
    same = all(getattr(habits, name) == value for name, value in changed.items())
    return asked.convention if same else msgspec.structs.replace(habits, **changed)


class Safelight:
    """Our side; what is loaded stays loaded."""

    def __init__(self, folder: Path, init: Path) -> None:
        found = find("cpu")
        assert found
        self._backend, self._folder, self._init = found.create(), folder, init
        self._residency = Residency()

    def render(self, asked: Asked, picture: Picture, checkpoint: Path) -> NDArray[np.uint8]:
        """The picture, uint8 [H, W, 3]."""
        request = request_of(asked, picture, checkpoint, self._init)
        known = JobCheckpoints(identify(checkpoint))
        resolved = resolve(request, known)
        stages = make_stages(
            self._backend,
            self._folder,
            (Precision.F32,),
            together=True,
            residency=self._residency,
        )
        index = picture.batch_index
        read = read_job(ResolvedJob(resolved, known, count=index + 1))
        device = self._backend.probe()[0]
        placement = place(resolved.precision, resolved.vae_tile, device)
        with closing(stages):
            generation = Generation(plan_pictures(read, placement), stages, SilentReporter())
            (made,) = generation.pictures(range(index, index + 1))
            stages.pool.leave_resident()
        return made.pixels

    def close(self) -> None:
        """Free the networks."""
        self._residency.release()


def save_init(pixels: NDArray[np.uint8], path: Path) -> Path:
    """The picture to redraw as a file."""
    Image.fromarray(pixels).save(path)
    return path
