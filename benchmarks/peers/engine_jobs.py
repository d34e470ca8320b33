"""Safelight's engine with its networks kept loaded: one picture after another, with LoRAs."""

import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.child import Answer
from benchmarks.workload import GUIDANCE, NEGATIVE, PROMPT, SEED, SIZE
from engine.api.lora import LoraChoice, LoraMode
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, Phase, SamplerName, ScheduleName
from engine.cancel import CancelToken
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.residency import Residency
from engine.output import Destination


class _Times(SilentReporter):
    """The times when the first step began, and when each step was done."""

    def __init__(self) -> None:
        self.began = 0.0
        self.done: list[float] = []
        self._phase: Phase | None = None

    def phase(self, phase: Phase) -> None:
        """Note the beginning of the steps."""
        self._phase = phase
        if phase is Phase.DENOISE:
            self.began = perf_counter()

    def progress(self, done: int, total: int) -> None:
        """Note the end of a step."""
        if self._phase is Phase.DENOISE and done:
            self.done.append(perf_counter())


class EngineJobs:
    """The runner of the engine's jobs, as in the engine's process, on a cache of its own."""

    def __init__(self, checkpoint: str, backend: str, cache: str) -> None:
        self._checkpoint, self._backend = checkpoint, backend
        self._out = tempfile.TemporaryDirectory()
        services = JobServices.in_cache(Path(cache), residency=Residency())
        self._runner = JobRunner(services)

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Make a "picture" of `steps` steps with `loras`, pairs of a file and a strength.

        `mode` is a `LoraMode`. The answer has the seconds from the request to the first step, those
        of each step, the mode that was chosen, and the picture's path.
        """
        times, request = _Times(), self._request(**options)
        saver = PictureSaver(Destination(Path(self._out.name)))
        start = perf_counter()
        result = self._runner.run(request, saver, times, CancelToken())
        seconds = perf_counter() - start
        ends = [times.began, *times.done]
        return {
            "seconds": seconds,
            "first_step_s": times.began - start,
            "steps_s": [end - begin for begin, end in pairwise(ends)],
            "mode": result.images[0].record.request.lora_mode.value,
            "picture": str(result.images[0].path),
            "warnings": [warning.message for warning in result.warnings],
        }

    def _request(
        self, steps: int, loras: Sequence[tuple[str, float]] = (), mode: str = LoraMode.AUTO
    ) -> GenerateRequest:
        return GenerateRequest(
            prompt=PROMPT,
            negative_prompt=NEGATIVE,
            checkpoint=self._checkpoint,
            backend=self._backend,
            steps=steps,
            width=SIZE,
            height=SIZE,
            seed=SEED,
            guidance=GUIDANCE,
            sampler=SamplerName.EULER,
            schedule=ScheduleName.NORMAL,
            convention=ConventionName.DIFFUSERS,
            loras=tuple(LoraChoice(file=file, strength=strength) for file, strength in loras),
            lora_mode=LoraMode(mode),
        )
