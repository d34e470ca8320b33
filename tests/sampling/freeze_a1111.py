"""Makes the frozen arrays of A1111 beside it, by running its own modules.

    python -m tests.sampling.freeze_a1111 CHECKOUT

in the oracle environment, where CHECKOUT is AUTOMATIC1111/stable-diffusion-webui 1.10.1, commit
5347a0d3261e467f6861ea9407016579e5cc6113. What they import of the rest of the program is replaced.

a1111_schedules.npz: "name/steps" of modules/sd_schedulers.py; "options/...", "discarded/..." and
"redrawn/..." through `KDiffusionSampler`; "timesteps/...", "unipc/..." and "noised/..." of the
samplers by timestep; "zero_terminal/alphas". a1111_noise.npz: what `ImageRNG` of modules/rng.py
draws, see `NOISES`, and the tree of its SDE samplers.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import ast
import importlib
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.oracle.k_diffusion import load
from tests.oracle.reference import alphas_cumprod
from tests.sampling.cases import (
    LEVELS,
    NOISES,
    SCHEDULE_OPTIONS,
    STEP_COUNTS,
    STRENGTHS,
    TIMESTEP_STEPS,
    TREE_SEEDS,
    TREE_SHAPE,
)

FOLDER = Path(__file__).parent / "frozen"
LEFT_OUT = (
    "images script_callbacks sd_models sd_samplers sd_samplers_extra sd_vae_approx sd_vae_taesd "
)
LEFT_OUT += "shared torch_utils"


def main(checkout: Path) -> None:
    """Write both files."""
    prepare(checkout)
    rescaled = zero_terminal_snr(checkout / "modules" / "sd_models.py")
    np.savez_compressed(FOLDER / "a1111_schedules.npz", **schedules(), **rescaled)
    np.savez_compressed(FOLDER / "a1111_noise.npz", **noises())


def prepare(checkout: Path) -> None:
    """Make `import modules.x` load the checkout's file, with stand-ins for what is left out."""
    package = ModuleType("modules")
    package.__path__ = [str(checkout / "modules")]
    sys.modules["modules"] = package
    devices = SimpleNamespace(device=torch.device("cpu"), cpu=torch.device("cpu"))
    denoisers = SimpleNamespace(CFGDenoiser=type("CFGDenoiser", (), {}))
    stubs = {name: MagicMock() for name in LEFT_OUT.split()}
    stubs |= {"devices": devices, "sd_samplers_cfg_denoiser": denoisers}
    stubs["torch_utils"].float64 = lambda tensor: torch.float64
    for name, stub in stubs.items():
        sys.modules[f"modules.{name}"] = stub
        setattr(package, name, stub)
    stubs["shared"].opts = options()
    stubs["shared"].sd_model = SimpleNamespace(
        alphas_cumprod=alphas_cumprod(), is_sdxl=False, parameterization="eps"
    )
    stubs["shared"].device = torch.device("cpu")
    for name in ("external", "sampling"):
        load(name)


def options(**changed: Any) -> SimpleNamespace:
    """A1111's settings with their defaults (modules/shared_options.py), as far as they are read."""
    defaults = {
        "beta_dist_alpha": 0.6,
        "beta_dist_beta": 0.6,
        "sigma_min": 0,
        "sigma_max": 0,
        "rho": 0,
        "use_old_karras_scheduler_sigmas": False,
        "always_discard_next_to_last_sigma": False,
        "enable_quantization": False,
        "img2img_fix_steps": False,
        "img2img_extra_noise": 0,
        "uni_pc_variant": "bh1",
        "uni_pc_skip_type": "time_uniform",
        "uni_pc_order": 3,
        "uni_pc_lower_order_final": True,
        "eta_noise_seed_delta": 0,
        "randn_source": "CPU",
    }
    return SimpleNamespace(**(defaults | changed))


def schedules() -> dict[str, Any]:
    """All that `a1111_schedules.npz` holds."""
    k_diffusion: Any = importlib.import_module("modules.sd_samplers_kdiffusion")
    every = importlib.import_module("modules.sd_schedulers").schedulers[1:]
    wrapper = load("external").CompVisDenoiser(sys.modules["modules"].shared.sd_model)
    arrays = {"training": wrapper.sigmas.numpy()}
    for schedule in every:
        for steps in STEP_COUNTS:
            arrays[f"{schedule.name}/{steps}"] = sigmas(k_diffusion, wrapper, schedule.name, steps)
    for name, changed in SCHEDULE_OPTIONS:
        k_diffusion.opts = options(**changed)
        key = "/".join(["options", name, *(f"{k}={v}" for k, v in changed.items())])
        arrays[key] = sigmas(k_diffusion, wrapper, name, 20)
    k_diffusion.opts = options()
    arrays["discarded/karras"] = sigmas(k_diffusion, wrapper, "karras", 20, discard=True)
    k_diffusion.shared.sd_model.is_sdxl = True
    for steps in STEP_COUNTS:
        arrays[f"align_your_steps_sdxl/{steps}"] = sigmas(
            k_diffusion, wrapper, "align_your_steps", steps
        )
    k_diffusion.shared.sd_model.is_sdxl = False
    return arrays | by_timestep() | redrawn(k_diffusion, wrapper)


def zero_terminal_snr(file: Path) -> dict[str, Any]:
    """The products of training as `rescale_zero_terminal_snr_abar` rescales them.

    Only that function is run: its module imports the networks.
    """
    tree = ast.parse(file.read_text())
    name = "rescale_zero_terminal_snr_abar"
    tree.body = [node for node in tree.body if getattr(node, "name", None) == name]
    names: dict[str, Any] = {}
    exec(compile(tree, str(file), "exec"), names)
    return {"zero_terminal/alphas": names[name](alphas_cumprod()).numpy()}


def sigmas(k_diffusion, wrapper, name: str, steps: int, discard: bool = False) -> np.ndarray:
    """`KDiffusionSampler.get_sigmas` of an otherwise empty sampler."""
    sampler = object.__new__(k_diffusion.KDiffusionSampler)
    sampler.config = SimpleNamespace(options={"discard_next_to_last_sigma": discard})
    sampler.model_wrap = wrapper
    return sampler.get_sigmas(parameters(scheduler=name), steps).numpy()


def parameters(**changed: Any) -> SimpleNamespace:
    """The object that A1111 calls `p`: the request, as far as the sampler reads it."""
    defaults = {
        "is_hr_pass": False,
        "sampler_noise_scheduler_override": None,
        "extra_generation_params": {},
        "cfg_scale": 7,
    }
    return SimpleNamespace(**(defaults | changed))


def redrawn(k_diffusion, wrapper) -> dict[str, Any]:
    """The levels `sample_img2img` hands to a sampler, by "redrawn/schedule/steps/strength"."""
    arrays = {}
    for name in ("karras", "ddim", "kl_optimal"):
        for steps in TIMESTEP_STEPS:
            for strength in STRENGTHS:
                sampler = bare(k_diffusion.KDiffusionSampler)
                sampler.model_wrap, seen = wrapper, []
                sampler.func = lambda model, x, sigmas, seen=seen, **_: seen.append(sigmas)
                p = parameters(scheduler=name, steps=steps, denoising_strength=strength)
                x = torch.zeros(1)
                sampler.sample_img2img(p, x, x, None, None)
                arrays[f"redrawn/{name}/{steps}/{strength}"] = seen[0].numpy()
    return arrays


def by_timestep() -> dict[str, Any]:
    """The timesteps of DDIM and UniPC, and noised pictures, by "sampler/steps[/strength]".

    "timesteps/...": DDIM's, rising. "unipc/...": the fractional timesteps at which the denoiser is
    called and, as the last, the final one. "noised/...": a picture of ones with noise of twos.
    """
    samplers = importlib.import_module("modules.sd_samplers_timesteps")
    arrays = {}
    for steps in TIMESTEP_STEPS:
        for strength in (None, *STRENGTHS):
            key = f"{steps}" if strength is None else f"{steps}/{strength}"
            p = parameters(steps=steps, denoising_strength=strength)
            sampler, seen = bare(samplers.CompVisSampler), []

            def function(model, x, timesteps, seen=seen, **_):
                seen.extend([timesteps, x])

            sampler.func, latent = function, torch.ones(1)
            if strength is None:
                sampler.sample(p, latent * 2, None, None)
            else:
                sampler.sample_img2img(p, latent, latent * 2, None, None)
                arrays[f"noised/{key}"] = seen[1].numpy()
            arrays[f"timesteps/{key}"] = seen[0].numpy()
            if 3 <= len(seen[0]) < 100:
                arrays[f"unipc/{key}"] = unipc_timesteps(seen[0], strength is not None)
    return arrays


def unipc_timesteps(timesteps: torch.Tensor, redrawn: bool) -> np.ndarray:
    """The timesteps of A1111's UniPC, from what it calls the denoiser with."""
    unipc = importlib.import_module("modules.sd_samplers_timesteps_impl").unipc
    inner = SimpleNamespace(inner_model=SimpleNamespace(alphas_cumprod=alphas_cumprod()))
    seen = []

    class Model:
        inner_model = inner

        def __call__(self, x, timestep):
            seen.append(timestep[0])
            return x

    noise = torch.ones(1, 1, 1, 1)
    unipc(Model(), noise, timesteps, {}, lambda state: None, is_img2img=redrawn)
    # The end is not evaluated: UniPC steps to t_0 = 1 / 1000, which is timestep 0.
    return np.array([*seen, 0], np.float32)


def bare(kind):
    """A sampler without its network, which runs `func` and records nothing."""
    sampler = object.__new__(kind)
    sampler.config = SimpleNamespace(options={})
    sampler.initialize = lambda p: {}
    sampler.launch_sampling = lambda steps, function: function()
    sampler.model_wrap_cfg = SimpleNamespace()
    sampler.add_infotext = lambda p: None
    sampler.s_min_uncond = 0
    return sampler


def noises() -> dict[str, Any]:
    """The draws of each case of `NOISES`, [draws, C, H, W], by its name.

    And "tree/source": the noise of SDE samplers between `LEVELS`, [intervals, batch, C, H, W].
    """
    rng = importlib.import_module("modules.rng")
    arrays = {}
    for name, case in NOISES.items():
        rng.shared.opts = options(
            eta_noise_seed_delta=case.options.eta_seed_delta,
            randn_source={"cpu": "CPU", "cuda": "NV"}[case.source.value],
        )
        width, height = case.options.resize_from or (0, 0)
        variation = case.options.variation_seed
        images = rng.ImageRNG(
            case.shape,
            [case.seed],
            None if variation is None else [variation],
            case.options.variation_strength,
            height,
            width,
        )
        arrays[name] = torch.cat([images.next() for _ in range(2)]).numpy()
    common = importlib.import_module("modules.sd_samplers_common")
    common.shared.opts.no_dpmpp_sde_batch_determinism = False
    p = parameters(all_seeds=list(TREE_SEEDS), iteration=0, batch_size=len(TREE_SEEDS))
    levels = torch.tensor([*LEVELS, 0])
    for source, setting in (("cpu", "CPU"), ("cuda", "NV")):
        rng.shared.opts.randn_source = setting
        x = torch.zeros(len(TREE_SEEDS), *TREE_SHAPE)
        tree = common.Sampler.create_noise_sampler(None, x, levels, p)
        pairs = pairwise(levels[:-1])
        arrays[f"tree/{source}"] = torch.stack([tree(*pair) for pair in pairs]).numpy()
    return arrays


if __name__ == "__main__":
    main(Path(sys.argv[1]))
