"""Freezes what the samplers of ComfyUI and A1111 do, from the tools' own files. Run

    python -m tests.sampling.freeze_tools COMFYUI STABLE_DIFFUSION_WEBUI

in the oracle environment, with the folders of checkouts of

    https://github.com/comfyanonymous/ComfyUI at a125cd84b054a57729b5eecab930ca9408719832
    https://github.com/AUTOMATIC1111/stable-diffusion-webui at
        5347a0d3261e467f6861ea9407016579e5cc6113

Of each tool only the files with the samplers are loaded; what these import beside torch is replaced
by the few names they use. tools.npz holds by "tool/sampler" the x before each step and the last,
in variance-exploding form, and by "tool/sampler/sigmas" the levels of these; "x" and "noise" are
what all begin with. The networks are those of `tool_networks.py`.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from tests.oracle.k_diffusion import load
from tests.oracle.reference import alphas_cumprod, reference_schedules
from tests.sampling.tool_networks import COMFY_GUIDANCE, SHAPE, WEBUI_GUIDANCE, pictures

FROZEN = Path(__file__).parent / "frozen" / "tools.npz"
STEPS = 8
# By our key: the function, its options, and whether the network answers with a guided picture.
COMFY = {
    "ddpm": ("sample_ddpm", {}),
    "lcm": ("sample_lcm", {}),
    "ipndm": ("sample_ipndm", {}),
    "deis": ("sample_deis", {}),
    "euler_cfg_pp": ("sample_euler_cfg_pp", {}),
    "euler_ancestral_cfg_pp": ("sample_euler_ancestral_cfg_pp", {}),
    "euler_ancestral_cfg_pp/half": (
        "sample_euler_ancestral_cfg_pp",
        {"eta": 0.5, "s_noise": 1.01},
    ),
    "res_multistep": ("sample_res_multistep", {}),
    "res_multistep_ancestral": ("sample_res_multistep_ancestral", {}),
    "res_multistep_ancestral/half": (
        "sample_res_multistep_ancestral",
        {"eta": 0.5, "s_noise": 1.01},
    ),
    "uni_pc": ("sample_unipc", {}),
    "uni_pc_bh2": ("sample_unipc_bh2", {}),
}
WEBUI = {
    "ddim": ("ddim", {}),
    "ddim/half": ("ddim", {"eta": 0.5}),
    "ddim_cfgpp": ("ddim_cfgpp", {}),
    "ddim_cfgpp/half": ("ddim_cfgpp", {"eta": 0.5}),
    "plms": ("plms", {}),
    "unipc": ("unipc", {}),
    "unipc/bh2": ("unipc", {"uni_pc_variant": "bh2"}),
    "unipc/second_order": ("unipc", {"uni_pc_order": 2, "uni_pc_lower_order_final": False}),
    "lcm": ("sample_lcm", {}),
}


def main(comfy: Path, webui: Path) -> None:
    """Write the file."""
    generator = torch.Generator().manual_seed(11)
    x = torch.randn(SHAPE, generator=generator)
    noise = torch.randn((STEPS, *SHAPE), generator=generator)
    arrays = {"x": x.numpy(), "noise": noise.numpy()}
    load_comfy(comfy)
    load_webui(webui)
    for name, (function, options) in COMFY.items():
        states, sigmas = comfy_run(function, options, x, noise)
        arrays |= {f"comfy/{name}": states, f"comfy/{name}/sigmas": sigmas}
    arrays["comfy/rescale_cfg"] = comfy_rescaled(x)
    for name, (function, options) in WEBUI.items():
        run = webui_lcm if function == "sample_lcm" else webui_run
        states, sigmas = run(function, options, x, noise)
        arrays |= {f"a1111/{name}": states, f"a1111/{name}/sigmas": sigmas}
    np.savez_compressed(FROZEN, **arrays)


def enter(name: str, module: ModuleType | None = None, **names: Any) -> None:
    """Put a module in `sys.modules`, and into its parent."""
    module = module or ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


def load_comfy(folder: Path) -> None:
    """The samplers, and the node RescaleCFG, under the names they have there."""

    def set_post_cfg(options, function, disable_cfg1_optimization):
        return options | {"post_cfg": function}

    for name in ("comfy", "comfy.k_diffusion", "comfy.extra_samplers", "comfy_extras"):
        enter(name, __path__=[str(folder / name.replace(".", "/"))])
    enter("comfy.model_patcher", set_model_options_post_cfg_function=set_post_cfg)
    sampling = {"CONST": type("CONST", (), {}), "EPS": object, "ModelSamplingDiscrete": object}
    enter("comfy.model_sampling", **sampling)
    importlib.import_module("comfy.k_diffusion.sampling")
    importlib.import_module("comfy.extra_samplers.uni_pc")
    for name in ("comfy.sd", "comfy.latent_formats", "nodes", "node_helpers"):
        enter(name)
    importlib.import_module("comfy_extras.nodes_model_advanced")


def comfy_run(function, options, x, noise):
    """One of ComfyUI's samplers on its Karras schedule."""
    sampling = sys.modules["comfy.k_diffusion.sampling"]
    unipc = sys.modules["comfy.extra_samplers.uni_pc"]
    sampler = getattr(sampling, function, None) or getattr(unipc, function)
    sigmas = torch.from_numpy(reference_schedules((STEPS,))[f"karras/{STEPS}"])
    x = x * sigmas[0]
    draws = iter(noise)
    if "noise_sampler" in signature(sampler).parameters:
        options = options | {"noise_sampler": lambda sigma, sigma_next: next(draws)}
    seen = []

    def network(x, sigma, model_options=None, **unused):
        seen.append((x, sigma[0]))
        positive, negative = pictures(x, sigma[0], torch.tanh)
        if not (model_options and "post_cfg" in model_options):
            return positive
        denoised = negative + (positive - negative) * COMFY_GUIDANCE
        args = {"denoised": denoised, "uncond_denoised": negative}
        return model_options["post_cfg"](args)

    def add_noise(sigma, noise, latent_image):
        return latent_image + noise * sigma

    patcher = SimpleNamespace(get_model_object=lambda name: None)
    model_sampling = SimpleNamespace(noise_scaling=add_noise)
    network.inner_model = SimpleNamespace(
        model_patcher=patcher, inner_model=SimpleNamespace(model_sampling=model_sampling)
    )
    # A copy: UniPC writes to it.
    last = sampler(network, x, sigmas.clone(), extra_args={}, disable=True, **options)
    levels = [sigma for _, sigma in seen] + [sigmas[-1]]
    return stacked([x for x, _ in seen] + [last]), np.array(levels, np.float32)


def comfy_rescaled(x):
    """The picture that the RescaleCFG node makes of two, at a few levels."""
    patched = []
    model = SimpleNamespace(set_model_sampler_cfg_function=patched.append)
    model.clone = lambda: model
    sys.modules["comfy_extras.nodes_model_advanced"].RescaleCFG().patch(model, 0.7)
    results = []
    for level in (5.0, 1.0, 0.1):
        sigma = torch.tensor([level])
        noisy = x * level
        positive, negative = pictures(noisy, sigma, torch.tanh)
        args = {"cond": noisy - positive, "uncond": noisy - negative, "cond_scale": 7.0}
        # As in comfy/samplers.py cfg_function.
        results.append(noisy - patched[0](args | {"sigma": sigma, "input": noisy}))
    return stacked(results)


def load_webui(folder: Path) -> None:
    """The samplers, as `modules.sd_samplers_timesteps_impl` and `modules.sd_samplers_lcm`."""
    load("sampling")
    load("external")
    options = SimpleNamespace()
    cpu = torch.device("cpu")
    for name in ("modules", "modules.models", "modules.models.diffusion"):
        enter(name, __path__=[str(folder / name.replace(".", "/"))])
    enter("modules.shared", opts=options, sd_model=SimpleNamespace(device=cpu))
    enter("modules.devices", device=cpu)
    enter("modules.sd_samplers_cfg_denoiser", CFGDenoiser=object)
    enter("modules.sd_samplers_kdiffusion", KDiffusionSampler=object)
    enter("modules.sd_samplers_common", SamplerData=lambda *args: None)
    importlib.import_module("modules.sd_samplers_timesteps_impl")
    importlib.import_module("modules.sd_samplers_lcm")


def webui_run(function, options, x, noise):
    """One of A1111's samplers by timesteps; x has unit variance there."""
    implementation = sys.modules["modules.sd_samplers_timesteps_impl"]
    unipc_options = {
        "uni_pc_variant": "bh1",
        "uni_pc_skip_type": "time_uniform",
        "uni_pc_order": 3,
        "uni_pc_lower_order_final": True,
    }
    vars(sys.modules["modules.shared"].opts).update(unipc_options | options)
    # CompVisSampler.get_timesteps.
    timesteps = torch.clip(torch.asarray(list(range(0, 1000, 1000 // STEPS))) + 1, 0, 999)
    network = WebuiNetwork()
    eta = {"eta": options["eta"]} if "eta" in options else {}
    sampler = getattr(implementation, function)
    with Drawing(noise):
        last = sampler(network, x, timesteps, {}, lambda state: None, True, **eta)
    if function == "plms":
        del network.seen[1]  # made where the second step begins, to improve the first
    if function == "unipc":
        schedule = implementation.uni_pc.NoiseScheduleVP("discrete", alphas_cumprod=network.alphas)
        times = torch.linspace(1.0, 1 / 1000, len(timesteps) + 1)
        share = schedule.marginal_alpha(times)
    else:
        share = network.alphas[timesteps.flip(0)].sqrt()
    levels = ((1 - share.double() ** 2).sqrt() / share).float()
    states = [x for x, _ in network.seen] + [last]
    scales = (1 + levels**2).sqrt()
    assert len(states) == len(levels)
    exploding = [state * scale for state, scale in zip(states, scales, strict=True)]
    return stacked(exploding), levels.numpy()


class WebuiNetwork:
    """A stand-in for CFGDenoiserTimesteps: noise under guidance, from x of unit variance."""

    def __init__(self) -> None:
        self.alphas = alphas_cumprod()
        self.inner_model = SimpleNamespace(inner_model=SimpleNamespace(alphas_cumprod=self.alphas))
        self.wrapper = load("external").CompVisDenoiser(
            SimpleNamespace(apply_model=None, alphas_cumprod=self.alphas)
        )
        self.seen = []
        self.cond_scale_miltiplier = 1.0
        self.last_noise_uncond = None

    def __call__(self, x, timestep):
        self.seen.append((x, timestep[0]))
        sigma = self.wrapper.t_to_sigma(timestep[:1].float())
        noisy = x * (1 + sigma**2).sqrt()
        positive, negative = ((noisy - p) / sigma for p in pictures(noisy, sigma, torch.tanh))
        self.last_noise_uncond = negative
        # As CFGDenoiser.combine_denoised.
        return negative + (positive - negative) * (WEBUI_GUIDANCE * self.cond_scale_miltiplier)


class Drawing:
    """Hands out recorded noise as A1111 does: in place of k-diffusion's `torch.randn_like`."""

    def __init__(self, noise) -> None:
        self.draws = iter(noise)

    def __enter__(self) -> None:
        vars(load("sampling"))["torch"] = SimpleNamespace(randn_like=lambda x: next(self.draws))

    def __exit__(self, *unused: object) -> None:
        vars(load("sampling"))["torch"] = torch


def webui_lcm(function, options, x, noise):
    """A1111's LCM on the schedule that "Automatic" chooses, with its own denoiser."""
    module = sys.modules["modules.sd_samplers_lcm"]
    wrapper = load("external").CompVisDenoiser(
        SimpleNamespace(apply_model=None, alphas_cumprod=alphas_cumprod())
    )
    seen = []

    def apply_model(x, timestep):
        seen.append((x, timestep[0]))
        sigma = wrapper.t_to_sigma(timestep[:1].float())
        noisy = x * (1 + sigma**2).sqrt()
        return (noisy - pictures(noisy, sigma, torch.tanh)[0]) / sigma

    model = SimpleNamespace(
        alphas_cumprod=alphas_cumprod(), device=torch.device("cpu"), apply_model=apply_model
    )
    denoiser = module.LCMCompVisDenoiser(model)
    sigmas = denoiser.get_sigmas(STEPS)
    draws = iter(noise)
    last = module.sample_lcm(
        denoiser, x * sigmas[0], sigmas, disable=True, noise_sampler=lambda *_: next(draws)
    )
    scales = (1 + sigmas**2).sqrt()
    states = [x * scale for (x, _), scale in zip(seen, scales, strict=False)]
    return stacked([*states, last]), sigmas.numpy()


def stacked(states) -> np.ndarray:
    return torch.stack(states).float().numpy()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
