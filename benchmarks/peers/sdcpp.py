"""stable-diffusion.cpp through stable-diffusion-cpp-python: default options, but all cores."""
# pyright: basic, reportMissingImports=false
# The package is optional (extra "peers"); it is compiled for this machine when it is installed.

import os
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from stable_diffusion_cpp import StableDiffusion

from benchmarks.child import Answer
from benchmarks.workload import GUIDANCE, NEGATIVE, PROMPT, SEED, SIZE


class StableDiffusionCpp:
    """A model loaded with its weights in the types they are stored in.

    `paths` are the library's own: `model_path`, or those of parts, as `diffusion_model_path`.
    """

    def __init__(self, **paths: str) -> None:
        self._pipeline = StableDiffusion(
            **paths,
            n_threads=len(os.sched_getaffinity(0)),
            vae_decode_only=True,
            verbose=False,
        )
        self._step_s = 0.0

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Make a picture; `step_s` is the mean of its steps, as the library times them."""
        start = perf_counter()
        self._pipeline.generate_image(
            prompt=PROMPT,
            negative_prompt=NEGATIVE,
            cfg_scale=options.get("guidance", GUIDANCE),
            sample_method="euler",
            sample_steps=options["steps"],
            width=SIZE,
            height=SIZE,
            batch_count=options.get("pictures", 1),
            seed=SEED,
            progress_callback=self._progress,
        )
        seconds = perf_counter() - start
        return {"seconds": seconds, "step_s": self._step_s}

    def _progress(self, step: int, steps: int, seconds: float) -> None:
        # Called before the first step with 0, then with the mean of the steps so far.
        self._step_s = seconds
