"""Renders prompts with a checkpoint through Safelight's own engine, or with diffusers."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from PIL import Image

from backends.base import Backend, Device
from backends.registry import BACKENDS
from engine.api.request import GenerateRequest
from engine.api.values import SamplerName, ScheduleName
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families.identify import identify, require_complete
from engine.jobs.reporting import SilentReporter
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.generate import Generation
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.picture_plan import plan_pictures
from engine.pipeline.place import place, precisions
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve
from engine.pipeline.stages import RunContext, Stages
from engine.weights.working_copies import WorkingCopies

# Maps prompts, and a seed for each, to 256x256 pictures.
Render = Callable[[Sequence[str], Sequence[int]], list[Image.Image]]


def _device(wanted: str) -> tuple[Backend, Device]:
    """Return the first usable device of a backend; "auto" tries all in the registry's order."""
    references = (r for r in BACKENDS if r.name == wanted or (wanted == "auto" and r.automatic))
    backends = [reference.create() for reference in references]
    return next((b, d) for b in backends for d in b.probe() if d.usable and d.automatic)


@contextmanager
def safelight_renderer(
    folder: Path, steps: int, guidance: float, backend: str = "auto"
) -> Generator[Render]:
    """Yield a renderer that uses the engine as the command line does.

    Networks stay loaded between pictures.
    """
    checkpoint = identify(folder)
    require_complete(checkpoint)
    checkpoints = JobCheckpoints(checkpoint)
    chosen, device = _device(backend)
    compiler = Compiler(chosen, device, WorkingCopies(folder / "none"))
    plan = MemoryPlan(WeightPlacement.MEMORY, together=True, peak_bytes=0, budget_bytes=0)

    def render_one(prompt: str, seed: int, stages: Stages) -> Image.Image:
        request = GenerateRequest(
            prompt=prompt,
            seed=seed,
            steps=steps,
            guidance=guidance,
            sampler=SamplerName.DPMPP_2M,
            schedule=ScheduleName.SGM_UNIFORM,
        )
        resolved = resolve(request, checkpoints)
        read = read_job(ResolvedJob(resolved, checkpoints))
        plan = plan_pictures(read, place(resolved.precision, resolved.vae_tile, device))
        picture = next(Generation(plan, stages, SilentReporter()).pictures())
        return Image.fromarray(picture.pixels)

    with ExitStack() as stack:
        wanted = precisions(GenerateRequest(prompt="").precision, device)
        context = RunContext(SilentReporter(), CancelToken())
        stages = Stages(NetworkPool(compiler, plan, context.cancel), wanted, context)
        stack.callback(stages.close)
        yield lambda prompts, seeds: [
            render_one(prompt, seed, stages) for prompt, seed in zip(prompts, seeds, strict=True)
        ]


def renderer(
    name: str, folder: Path, steps: int, guidance: float
) -> AbstractContextManager[Render]:
    """Return the engine's renderer ("safelight"), or diffusers' in float32 to check the engine."""
    if name == "diffusers":
        from starter.training.rendering import diffusers_renderer

        return diffusers_renderer(folder, steps, guidance)
    return safelight_renderer(folder, steps, guidance)
