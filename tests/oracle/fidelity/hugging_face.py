"""diffusers' pipelines and InvokeAI, which runs its schedulers: the loops in plain torch.

After `StableDiffusionPipeline` and `StableDiffusionImg2ImgPipeline` of diffusers, and
`invokeai/app/invocations/denoise_latents.py` and `compel.py` of https://github.com/invoke-ai/InvokeAI
(6.x). The schedulers and compel are run, not written again.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and compel are absent from the environment that is type-checked.

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import diffusers
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from compel import Compel, SplitLongTextMode

from tests.oracle.fidelity.networks import SHAPE, Networks, init_picture
from tests.oracle.fidelity.noise import Generator, brownian_source, generator
from tests.oracle.fidelity.picture import Picture

# What Stable Diffusion 1.5 is published with; each scheduler fills in its own defaults.
_CONFIG = {
    "num_train_timesteps": 1000,
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "clip_sample": False,
    "set_alpha_to_one": False,
    "skip_prk_steps": True,
    "steps_offset": 1,
}
_KARRAS = {"use_karras_sigmas": True}
_SDE = {"algorithm_type": "sde-dpmsolver++"}

# InvokeAI's names of those that Safelight has: the class and its options.
INVOKE: dict[str, tuple[str, dict[str, Any]]] = {
    "ddim": ("DDIMScheduler", {}),
    "ddpm": ("DDPMScheduler", {}),
    "deis": ("DEISMultistepScheduler", {}),
    "deis_k": ("DEISMultistepScheduler", _KARRAS),
    "lms": ("LMSDiscreteScheduler", {}),
    "lms_k": ("LMSDiscreteScheduler", _KARRAS),
    "pndm": ("PNDMScheduler", {}),
    "heun": ("HeunDiscreteScheduler", {}),
    "heun_k": ("HeunDiscreteScheduler", _KARRAS),
    "euler": ("EulerDiscreteScheduler", {}),
    "euler_k": ("EulerDiscreteScheduler", _KARRAS),
    "euler_a": ("EulerAncestralDiscreteScheduler", {}),
    "kdpm_2": ("KDPM2DiscreteScheduler", {}),
    "kdpm_2_k": ("KDPM2DiscreteScheduler", _KARRAS),
    "kdpm_2_a": ("KDPM2AncestralDiscreteScheduler", {}),
    "kdpm_2_a_k": ("KDPM2AncestralDiscreteScheduler", _KARRAS),
    "dpmpp_2m": ("DPMSolverMultistepScheduler", {}),
    "dpmpp_2m_k": ("DPMSolverMultistepScheduler", _KARRAS),
    "dpmpp_2m_sde": ("DPMSolverMultistepScheduler", _SDE),
    "dpmpp_2m_sde_k": ("DPMSolverMultistepScheduler", _SDE | _KARRAS),
    "dpmpp_sde": ("DPMSolverSDEScheduler", {}),
    "dpmpp_sde_k": ("DPMSolverSDEScheduler", _KARRAS),
    "unipc": ("UniPCMultistepScheduler", {}),
    "unipc_k": ("UniPCMultistepScheduler", _KARRAS),
    "lcm": ("LCMScheduler", {}),
    "tcd": ("TCDScheduler", {}),
}
# diffusers' schedulers, and how their levels are spread beside the default of each.
DIFFUSERS: dict[str, tuple[str, dict[str, Any]]] = {
    "DDIM": ("DDIMScheduler", {}),
    "DDPM": ("DDPMScheduler", {}),
    "PNDM": ("PNDMScheduler", {}),
    "LMSDiscrete": ("LMSDiscreteScheduler", {}),
    "HeunDiscrete": ("HeunDiscreteScheduler", {}),
    "EulerDiscrete": ("EulerDiscreteScheduler", {}),
    "EulerAncestralDiscrete": ("EulerAncestralDiscreteScheduler", {}),
    "KDPM2Discrete": ("KDPM2DiscreteScheduler", {}),
    "KDPM2AncestralDiscrete": ("KDPM2AncestralDiscreteScheduler", {}),
    "DPMSolverMultistep": ("DPMSolverMultistepScheduler", {}),
    "DPMSolverMultistep SDE": ("DPMSolverMultistepScheduler", _SDE),
    "DEISMultistep": ("DEISMultistepScheduler", {}),
    "UniPCMultistep": ("UniPCMultistepScheduler", {}),
    "LCM": ("LCMScheduler", {}),
    "TCD": ("TCDScheduler", {}),
}
# How each spreads its levels where nothing else is said; the others do so by "linspace".
# LCM and TCD take each (50 / steps)-th of 50 timesteps, which for 10 steps is "trailing".
OWN_SPREAD = (
    dict.fromkeys(DIFFUSERS, "linspace")
    | dict.fromkeys(("DDIM", "DDPM", "PNDM"), "leading")
    | dict.fromkeys(("LCM", "TCD"), "trailing")
)
# Those that know Karras' levels.
KARRAS = {
    name
    for name, (kind, _) in DIFFUSERS.items()
    if "use_karras_sigmas" in signature(getattr(diffusers, kind).__init__).parameters
}
SPREADS: dict[str, dict[str, Any]] = {
    "": {},
    "Karras": _KARRAS,
    "exponential": {"use_exponential_sigmas": True},
    "beta": {"use_beta_sigmas": True},
    "leading": {"timestep_spacing": "leading"},
    "linspace": {"timestep_spacing": "linspace"},
    "trailing": {"timestep_spacing": "trailing"},
}


def _scheduler(
    named: tuple[str, dict[str, Any]], picture: Picture, more: dict[str, Any], seed: int
) -> Any:
    kind, options = named
    settings = _CONFIG | options | more | {"prediction_type": picture.prediction}
    if picture.zero_terminal_snr:
        settings["rescale_betas_zero_snr"] = True
    if kind == "DPMSolverSDEScheduler":
        settings["noise_sampler_seed"] = seed
    return getattr(diffusers, kind).from_config(settings)


def render_diffusers(networks: Networks, picture: Picture) -> np.ndarray:
    """The picture of a diffusers pipeline, uint8 [H, W, 3]."""
    with torch.no_grad():
        spread = SPREADS[picture.schedule]
        scheduler = _scheduler(DIFFUSERS[picture.sampler], picture, spread, picture.seed)
        stream = torch.Generator("cpu").manual_seed(picture.seed)
        # The picture is drawn from what the encoder says before the noise is.
        init = None if picture.strength is None else networks.latent(init_picture(), stream)
        noise = torch.randn((picture.batch_index + 1, *SHAPE), generator=stream)[-1:]
        scheduler.set_timesteps(picture.steps)
        timesteps = scheduler.timesteps
        if init is None or picture.strength is None:
            x = noise * scheduler.init_noise_sigma
        else:
            taken = min(int(picture.steps * picture.strength), picture.steps)
            begin = (picture.steps - taken) * scheduler.order
            timesteps = timesteps[begin:]
            if hasattr(scheduler, "set_begin_index"):
                scheduler.set_begin_index(begin)
            x = scheduler.add_noise(init, noise, timesteps[:1])
        passed = {"generator": stream, "eta": picture.eta or 0.0}
        context = torch.cat(
            [_cut(networks, text, picture.clip_skip) for text in (picture.negative, picture.prompt)]
        )
        x = _loop(networks, picture, scheduler, x, timesteps, context, passed)
        return networks.pixels(x, rounds=True)


def render_invoke(networks: Networks, picture: Picture) -> np.ndarray:
    """The picture of InvokeAI's legacy graph, uint8 [H, W, 3]."""
    seed = picture.seed + picture.batch_index
    scheduler = _scheduler(INVOKE[picture.sampler], picture, {}, seed)
    stream = generator(seed ^ 0xFFFFFFFF, picture.source)
    with torch.no_grad(), _stepping_from(scheduler, stream), brownian_source(picture.source):
        noise = torch.randn((1, *SHAPE), generator=torch.Generator("cpu").manual_seed(seed))
        scheduler.set_timesteps(picture.steps)
        timesteps, order = scheduler.timesteps, scheduler.order
        start = 1000 if picture.strength is None else round(1000 * picture.strength)
        skipped = sum(bool(timestep >= start) for timestep in timesteps[::order]) * order
        init = torch.zeros_like(noise)
        if picture.strength is not None:
            init = networks.latent(init_picture())
        timesteps = timesteps[skipped:]
        x = scheduler.add_noise(init, noise, timesteps[:1])
        passed = {"eta": 1.0} if picture.sampler == "tcd" else {}
        context, seen = _compel(networks, picture)
        x = _loop(networks, picture, scheduler, x, timesteps, context, passed, seen)
        return networks.pixels(x, rounds=True)


@contextmanager
def _stepping_from(scheduler: Any, stream: Generator) -> Iterator[None]:
    """Within the block the scheduler draws from this stream: InvokeAI's is on the card."""
    module = sys.modules[type(scheduler).__module__]
    before = getattr(module, "randn_tensor", None)
    module.randn_tensor = lambda shape, **_: stream.randn(shape)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.randn_tensor = before  # type: ignore[attr-defined]


def _loop(
    networks: Networks,
    picture: Picture,
    scheduler: Any,
    x: Any,
    timesteps: Any,
    context: Any,
    passed: dict[str, Any],
    seen: Any = None,
) -> Any:
    known = signature(scheduler.step).parameters
    passed = {name: value for name, value in passed.items() if name in known}
    for timestep in timesteps:
        both = scheduler.scale_model_input(torch.cat([x] * 2), timestep)
        without, with_prompt = networks.predict(both, timestep, context, seen).chunk(2)
        guided = without + picture.guidance * (with_prompt - without)
        if picture.rescale:
            # Lin et al. (2023), section 3.4, on what the network predicts.
            ratio = with_prompt.std(dim=(1, 2, 3), keepdim=True) / guided.std(
                dim=(1, 2, 3), keepdim=True
            )
            guided = picture.rescale * guided * ratio + (1 - picture.rescale) * guided
        x = scheduler.step(guided, timestep, x, **passed).prev_sample
    return x


def _cut(networks: Networks, text: str, clip_skip: int) -> Any:
    """diffusers' `encode_prompt`: 77 tokens, the rest dropped."""
    ids = networks.tokenizer(text, padding="max_length", max_length=77, truncation=True)
    return networks.encode([ids["input_ids"]], clip_skip)


def _compel(networks: Networks, picture: Picture) -> tuple[Any, Any]:
    """InvokeAI's prompts, through compel; the shorter is followed by zeros that are masked."""
    compel = Compel(
        tokenizer=networks.tokenizer,
        text_encoder=networks.text_encoder,
        truncate_long_prompts=False,
        split_long_text_mode=SplitLongTextMode.SENTENCES,
    )
    encoder = networks.text_model.encoder
    layers = encoder.layers
    tensors = []
    for text in (picture.negative, picture.prompt):
        conjunction = Compel.parse_prompt_string(text)
        # InvokeAI takes the skipped layers off the encoder.
        encoder.layers = layers[: len(layers) - picture.clip_skip + 1]
        tensors.append(compel.build_conditioning_tensor_for_conjunction(conjunction)[0])
        encoder.layers = layers
    longest = max(tensor.shape[1] for tensor in tensors)
    missing = [longest - tensor.shape[1] for tensor in tensors]
    texts = [F.pad(text, (0, 0, 0, rows)) for text, rows in zip(tensors, missing, strict=True)]
    seen = [[1.0] * (longest - rows) + [0.0] * rows for rows in missing]
    return torch.cat(texts), torch.tensor(seen)
