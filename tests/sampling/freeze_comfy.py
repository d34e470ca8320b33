"""Makes the frozen arrays of ComfyUI beside it, by running its own modules.

    python -m tests.sampling.freeze_comfy CHECKOUT

in the oracle environment, where CHECKOUT is comfyanonymous/ComfyUI, commit
a125cd84b054a57729b5eecab930ca9408719832. What they import of the rest of it is replaced.

comfy_schedules.npz: "name/steps" of comfy/samplers.py and comfy_extras/nodes_align_your_steps.py,
and the levels of training; "redrawn/..." and "discarded/..." through `KSampler`; "timesteps": of
`LEVELS`. comfy_noise.npz: the noise of a batch, see `BATCHES`.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.sampling.cases import BATCHES, LEVELS, STEP_COUNTS, STRENGTHS, TIMESTEP_STEPS

FOLDER = Path(__file__).parent / "frozen"
LEFT_OUT = (
    "model_management sampler_helpers model_patcher patcher_extension hooks context_windows utils"
)
OURS = {"ddim_uniform": "ddim"}


def main(checkout: Path) -> None:
    """Write both files."""
    prepare(checkout)
    np.savez_compressed(FOLDER / "comfy_schedules.npz", **schedules())
    np.savez_compressed(FOLDER / "comfy_noise.npz", **noises())


def prepare(checkout: Path) -> None:
    """Make `import comfy.x` load the checkout's file, with stand-ins for what is left out."""
    sys.path.insert(0, str(checkout))
    package = ModuleType("comfy")
    package.__path__ = [str(checkout / "comfy")]
    sys.modules["comfy"] = package
    for name in LEFT_OUT.split():
        sys.modules[f"comfy.{name}"] = MagicMock()
        setattr(package, name, sys.modules[f"comfy.{name}"])
    for name in ("einops", "comfy.ldm.util", "comfy.extra_samplers"):
        sys.modules[name] = MagicMock()
    # Nodes declare themselves with it; only what they compute is wanted.
    latest: Any = ModuleType("comfy_api.latest")
    latest.ComfyExtension = object
    latest.io = SimpleNamespace(
        ComfyNode=object, NodeOutput=lambda *results: results, Schema=MagicMock()
    )
    sys.modules["comfy_api"], sys.modules["comfy_api.latest"] = ModuleType("comfy_api"), latest


def schedules() -> dict[str, Any]:
    """All that `comfy_schedules.npz` holds."""
    samplers = importlib.import_module("comfy.samplers")
    discrete = importlib.import_module("comfy.model_sampling").ModelSamplingDiscrete
    training = discrete()
    arrays = {
        "training": training.sigmas.numpy(),
        "training/logs": training.log_sigmas.numpy(),
        "zero_terminal/training": discrete(zsnr=True).sigmas.numpy(),
        "timesteps": training.timestep(torch.tensor(LEVELS)).numpy(),
    }
    for name in samplers.SCHEDULER_NAMES:
        for steps in STEP_COUNTS:
            if (name, steps) != ("kl_optimal", 1):  # which divides 0 by 0
                sigmas = samplers.calculate_sigmas(training, name, steps).numpy()
                arrays[f"{OURS.get(name, name)}/{steps}"] = sigmas
    node = importlib.import_module("comfy_extras.nodes_align_your_steps").AlignYourStepsScheduler
    for kind, key in (("SD1", "align_your_steps"), ("SDXL", "align_your_steps_sdxl")):
        for steps in STEP_COUNTS:
            arrays[f"{key}/{steps}"] = node.execute(kind, steps, 1.0)[0].numpy()
    return arrays | redrawn(samplers, training)


def redrawn(samplers, training) -> dict[str, Any]:
    """The levels of `KSampler`, by "redrawn/schedule/steps/strength"."""
    network = SimpleNamespace(get_model_object=lambda name: training, model_options={})

    def sigmas(sampler: str, name: str, steps: int, strength: float) -> np.ndarray:
        made = samplers.KSampler(network, steps, "cpu", sampler, name, strength)
        return made.sigmas.numpy()

    arrays = {"discarded/karras": sigmas("dpm_2", "karras", 20, 1.0)}
    for name in ("karras", "simple", "ddim_uniform", "beta"):
        for steps in TIMESTEP_STEPS[:3]:
            for strength in STRENGTHS:
                key = f"redrawn/{OURS.get(name, name)}/{steps}/{strength}"
                arrays[key] = sigmas("euler", name, steps, strength)
    return arrays


def noises() -> dict[str, Any]:
    """First noise [batch, C, H, W], "first/..."; two draws of it for steps, "steps/...";

    and of the Brownian tree of its SDE samplers, "tree/...", for the intervals between `LEVELS`.
    """
    prepare_noise = importlib.import_module("comfy.sample").prepare_noise
    sampling = importlib.import_module("comfy.k_diffusion.sampling")
    arrays = {}
    for name, case in BATCHES.items():
        indices = None if case.places is None else list(case.places)
        size = case.size if indices is None else len(indices)
        latents = torch.zeros(size, *case.shape)
        arrays[f"first/{name}"] = prepare_noise(latents, case.seed, indices).numpy()
        steps = sampling.default_noise_sampler(latents, seed=case.seed)
        arrays[f"steps/{name}"] = torch.stack([steps(None, None) for _ in range(2)]).numpy()
        levels = torch.tensor(LEVELS)
        tree = sampling.BrownianTreeNoiseSampler(
            latents, levels.min(), levels.max(), seed=case.seed, cpu=True
        )
        pairs = pairwise(levels)
        arrays[f"tree/{name}"] = torch.stack([tree(*pair) for pair in pairs]).numpy()
    return arrays


if __name__ == "__main__":
    main(Path(sys.argv[1]))
