"""Running a job through the pipeline in tests, without the runner around it."""

from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Backend, Cancellation, Precision
from engine.api.record import Retry
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, ErrorInfo, Phase
from engine.cancel import CancelToken
from engine.checkpoints.files import read_index
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.kept_results import KeptResults
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.reporting import SilentReporter
from engine.lora.folder import LoraLookup
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency, Resident
from engine.pipeline.batch import ReplaceWildcards, ResolvedJob
from engine.pipeline.generate import Generation, Picture
from engine.pipeline.image_prompts import (
    WITHOUT_IMAGE_PROMPTS,
    ImagePromptFiles,
    read_image_prompts,
)
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.picture_loras import ReadLoras, no_loras
from engine.pipeline.picture_plan import plan_pictures
from engine.pipeline.place import place, precisions
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import NamedFiles, resolve, resolve_job
from engine.pipeline.stages import RunContext, Stages
from engine.weights.rounding import EXACT, Rounding
from engine.weights.working_copies import WorkingCopies
from tests.tiny_checkpoint import SIDE


class RoomyResidency(Residency):
    """Keeps the last `LIMIT` networks loaded, also several of one name."""

    LIMIT = 12

    def __init__(self) -> None:
        super().__init__()
        self._kept: OrderedDict[tuple[str, str], Resident] = OrderedDict()

    def make_room(self, room_bytes: int, used: Collection[str]) -> None:
        """Free nothing: the networks of tests are small."""

    def take(self, name: str, identity: str, origin: str = "") -> Resident | None:
        """Remove and return the network of that name and identity, if it is there."""
        return self._kept.pop((name, identity), None)

    def give(self, name: str, resident: Resident) -> None:
        """Keep a network, in place of the one that was used longest ago."""
        before = self._kept.pop((name, resident.identity), None)
        self._kept[name, resident.identity] = resident
        if before is None and len(self._kept) > self.LIMIT:
            _, before = self._kept.popitem(last=False)
        if before is not None:
            before.session.close()

    def release(self) -> None:
        """Free all networks."""
        while self._kept:
            self._kept.popitem()[1].session.close()


# For pictures on the processor where neither loading nor freeing is the subject: networks stay
# loaded from one picture to the next.
RESIDENCY = RoomyResidency()


@dataclass
class Log(SilentReporter):
    """A `Reporter` that remembers."""

    phases: list[Phase] = field(default_factory=list[Phase])
    steps: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def phase(self, phase: Phase) -> None:
        self.phases.append(phase)

    def progress(self, done: int, total: int) -> None:
        if self.phases[-1:] == [Phase.DENOISE]:
            self.steps.append((done, total))


@dataclass(frozen=True)
class Result:
    """The pictures of a job, with its warnings, retries and log."""

    pictures: list[Picture]
    warnings: list[ErrorInfo]
    retries: tuple[Retry, ...]
    log: Log

    @property
    def pixels(self) -> list[NDArray[np.uint8]]:
        """The pixels of each picture, [height, width, 3]."""
        return [picture.pixels for picture in self.pictures]


def a_request(checkpoint: Path, **changes: object) -> GenerateRequest:
    """A small request; `changes` are fields of it."""
    fields: dict[str, object] = {
        "prompt": "a red horse, blue house",
        "negative_prompt": "blur",
        "checkpoint": str(checkpoint),
        "width": SIDE,
        "height": SIDE,
        "steps": 3,
        "seed": 7,
        "convention": ConventionName.DIFFUSERS,
    }
    return GenerateRequest(**(fields | changes))  # pyright: ignore[reportArgumentType]


def make_stages(
    backend: Backend,
    folder: Path,
    tried: tuple[Precision, ...],
    *,
    together: bool = False,
    weights: WeightPlacement = WeightPlacement.MEMORY,
    log: Log | None = None,
    cancel: Cancellation | None = None,
    residency: Residency | None = None,
    release: Callable[[], None] = return_free_memory,
    store: ArtifactStore | None = None,
    rounding: Rounding = EXACT,
    results: KeptResults | None = None,
) -> Stages:
    """Stages on a backend's first device; `folder` is for working copies, `store` for artifacts."""
    copies = WorkingCopies(folder)
    compiler = Compiler(backend, backend.probe()[0], copies, store, rounding=rounding)
    plan = MemoryPlan(weights, together, 0, 0, resident=residency is not None)
    token = cancel or CancelToken()
    pool = NetworkPool(compiler, plan, token, residency, release, results)
    return Stages(pool, tried, RunContext(log or Log(), token))


def run(
    request: GenerateRequest,
    backend: Backend,
    tried: tuple[Precision, ...] | None = None,
    *,
    together: bool = False,
    weights: WeightPlacement = WeightPlacement.MEMORY,
    log: Log | None = None,
    cancel: Cancellation | None = None,
    residency: Residency | None = None,
    read_loras: ReadLoras = no_loras,
    replace_wildcards: ReplaceWildcards | None = None,
    embeddings: Embeddings = NO_EMBEDDINGS,
    store: ArtifactStore | None = None,
    rounding: Rounding = EXACT,
    lookup: LoraLookup | None = None,
    results: KeptResults | None = None,
) -> Result:
    """Make the pictures of a request; `tried` replaces the precisions it asks for.

    With a `lookup` of LoRAs the whole job is resolved as the engine does.
    """
    device, log = backend.probe()[0], log or Log()
    checkpoints = load_checkpoints(request)
    checkpoint, resolved = checkpoints.first, resolve(request, checkpoints)
    tried = tried or precisions(request.precision, device)
    folder = checkpoint.path.parent / "cache"
    stages = make_stages(
        backend,
        folder,
        tried,
        together=together,
        weights=weights,
        log=log,
        cancel=cancel,
        residency=residency,
        store=store,
        rounding=rounding,
        results=results,
    )
    job = ResolvedJob(
        resolved,
        checkpoints,
        request.count,
        replace_wildcards,
        read_loras,
        embeddings,
        read_image_prompts(resolved, checkpoint, ImagePromptFiles(read_index))
        if resolved.image_prompts
        else WITHOUT_IMAGE_PROMPTS,
    )
    if lookup is not None:
        job = resolve_job(request, checkpoints, NamedFiles(loras=lookup))
    read = read_job(job)
    placement = place(resolved.precision, resolved.vae_tile, device)
    with closing(stages):
        generation = Generation(plan_pictures(read, placement), stages, log)
        pictures = list(generation.pictures())
        stages.pool.keep_results()
        stages.pool.leave_resident()
    assert len(pictures) == request.count
    warnings = list(pictures[-1].warnings)
    return Result(pictures, warnings, tuple(stages.retries), log)


def psnr(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    """Peak signal to noise ratio in dB; 99 where they are equal."""
    error = np.mean((first.astype(np.float64) - second) ** 2)
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))
