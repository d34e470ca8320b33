"""Freezes what sd-webui-controlnet adds in A1111's sampling loop, by running both.

    python -m tests.pipeline.freeze_a1111_controls A1111 CONTROLNET

in the oracle environment, where A1111 is a checkout of AUTOMATIC1111/stable-diffusion-webui 1.10.1
(82a973c04367123ae98bd9abdf80d9eda9b910e2) and CONTROLNET one of Mikubill/sd-webui-controlnet
(56cec5b2958edf3b1807b7e7b2b1b5186dbd2f81). Their samplers, `CFGDenoiser`, prompt marks and
`UnetHook` are loaded; what these import of the rest is replaced. The UNet's blocks forget what they
get, so that a skip connection is what a control network adds to it; the networks answer with ones.

a1111_controls.npz holds by name of `control_loops.A1111` float32 [evaluations, rows, residuals]:
what is added for the prompt and for the negative prompt, the outermost residual first, the middle
last; of an adapter its four images.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from engine.api.control import ControlMode
from engine.api.values import SamplerName
from tests.oracle.k_diffusion import load
from tests.oracle.reference import alphas_cumprod
from tests.pipeline.control_loops import A1111, ADAPTER_IMAGES, ADAPTIVE, Led, Loop

FROZEN = Path(__file__).parent / "frozen" / "a1111_controls.npz"
SIDE = 8
LABELS = {
    SamplerName.EULER: "Euler",
    SamplerName.EULER_ANCESTRAL: "Euler a",
    SamplerName.HEUN: "Heun",
    SamplerName.LMS: "LMS",
    SamplerName.DPM2: "DPM2",
    SamplerName.DPM_FAST: "DPM fast",
    SamplerName.DPM_ADAPTIVE: "DPM adaptive",
    SamplerName.DPMPP_2S_ANCESTRAL: "DPM++ 2S a",
    SamplerName.DPMPP_2M: "DPM++ 2M",
    SamplerName.DPMPP_SDE: "DPM++ SDE",
    SamplerName.DPMPP_3M_SDE: "DPM++ 3M SDE",
    SamplerName.RESTART: "Restart",
    SamplerName.UNIPC: "UniPC",
    SamplerName.PLMS: "PLMS",
    SamplerName.DDIM: "DDIM",
}
MODEL = SimpleNamespace(
    parameterization="eps",
    alphas_cumprod=alphas_cumprod(),
    model=SimpleNamespace(conditioning_key="crossattn"),
    cond_stage_key="",
    is_sdxl=False,
)
DENOISER_CALLBACKS: list[Any] = []


class Options(SimpleNamespace):
    """A1111's options: off unless they are named."""

    def __getattr__(self, name: str) -> Any:
        return [] if name.startswith("prioritized_callbacks") else 0


class Forgetful(torch.nn.Module):
    """A block whose answer is zeros; `seen` gets what an output block is given."""

    def __init__(self, seen: list[Any] | None = None) -> None:
        super().__init__()
        self.seen = seen

    def forward(self, h: Any, emb: Any, context: Any) -> Any:
        if self.seen is not None:
            self.seen.append(h[:, :, 0, 0])
        return torch.zeros_like(h[:, :1])


class UNet(torch.nn.Module):
    """A UNet with the places that control networks add to; `added` is the latest evaluation."""

    def __init__(self, skips: int, adapter_places: tuple[int, ...]) -> None:
        super().__init__()
        self.skips, self.adapter_places = skips, adapter_places
        self.seen: list[Any] = []
        self.model_channels = 4
        self.time_embed = self.label_emb = lambda _: 0.0
        self.input_blocks = torch.nn.ModuleList(Forgetful() for _ in range(skips))
        self.middle_block = Forgetful()
        self.output_blocks = torch.nn.ModuleList(Forgetful(self.seen) for _ in range(skips))

    def out(self, h: Any) -> Any:
        return 0.1 * self.x

    def forward(self, *_: Any, **__: Any) -> None:
        raise AssertionError("the hook replaces it")

    def added(self, adapts: bool) -> Any:
        """Float [rows, residuals] of the latest evaluation."""
        rows, self.seen[:] = torch.stack(self.seen, 2), []
        skips = rows[:, 1].flip(1)
        if adapts:
            return skips[:, list(self.adapter_places)]
        return torch.cat([skips, rows[:, :1, 0]], 1)


def main(webui: Path, controlnet: Path) -> None:
    """Write the file."""
    prepare(webui, controlnet)
    arrays = {name: run(loop) for name, loop in {**A1111, **ADAPTIVE}.items()}
    np.savez_compressed(FROZEN, **arrays)


def run(loop: Loop) -> Any:
    """Return the numbers that are added in each evaluation of a run."""
    hooks, shared = sys.modules["scripts.hook"], sys.modules["modules.shared"]
    unet = UNet(9, (3, 5, 8)) if loop.sdxl else UNet(12, (2, 5, 8, 11))
    MODEL.is_sdxl = loop.sdxl
    found: list[Any] = []

    def apply_model(x: Any, t: Any, cond: Any) -> Any:
        unet.x = x
        y = cond["vector"] if loop.sdxl else None
        context = cond["crossattn"] if loop.sdxl else torch.cat(cond["c_crossattn"], 1)
        answer = unet.forward(x, timesteps=t, context=context, y=y)
        found.append(unet.added(loop.layers[0].adapts).numpy())
        return answer

    MODEL.apply_model = apply_model
    hook, p = hooks.UnetHook(), process(loop)
    hook.hook(unet, MODEL, [parameters(led, loop) for led in loop.layers], p)
    DENOISER_CALLBACKS[:] = [hook.guidance_schedule_handler]
    torch.manual_seed(3)
    sampler = new_sampler(loop)
    noise = torch.randn(1, 4, SIDE, SIDE)
    p.sample_before_CN_hack = lambda **given: sample(sampler, p, noise, loop, **given)
    p.sample(conditioning=texts(positive=True), unconditional_conditioning=texts(positive=False))
    if loop.enlarged:
        # `sample_hr_pass`: all its steps by a schedule that is longer.
        p.is_hr_pass, p.denoising_strength = True, 0.6
        sampler = new_sampler(loop)
        noise = torch.randn(1, 4, 2 * SIDE, 2 * SIDE)
        given = p.hr_c, p.hr_uc, loop.steps, noise
        sampler.sample_img2img(p, noise, noise, *given)
    assert shared.state.sampling_steps
    return np.stack(found)


def sample(sampler: Any, p: Any, noise: Any, loop: Loop, **given: Any) -> Any:
    """`StableDiffusionProcessing.sample`: from noise, or from a noised picture."""
    texts = given["conditioning"], given["unconditional_conditioning"]
    if loop.strength == 1:
        return sampler.sample(p, noise, *texts, image_conditioning=noise)
    return sampler.sample_img2img(p, noise, noise, *texts, image_conditioning=noise)


def process(loop: Loop) -> Any:
    """The settings that samplers and the hook read of a job."""
    return SimpleNamespace(
        steps=loop.steps,
        cfg_scale=7.0,
        denoising_strength=loop.strength,
        scheduler="Automatic",
        hr_scheduler="Automatic",
        is_hr_pass=False,
        sampler_noise_scheduler_override=None,
        eta=None,
        s_churn=0.0,
        s_tmin=0.0,
        s_tmax=0.0,
        s_noise=1.0,
        extra_generation_params={},
        all_seeds=[7],
        refiner_switch_at=None,
        refiner_checkpoint_info=None,
        iteration=0,
        batch_size=1,
        scripts=None,
        rng=SimpleNamespace(next=lambda: torch.zeros(1, 4, SIDE, SIDE)),
        hr_c=texts(positive=True),
        hr_uc=texts(positive=False),
        sample=None,
    )


def texts(*, positive: bool) -> Any:
    """A prompt's or a negative prompt's schedule, as A1111 has it."""
    parser = sys.modules["modules.prompt_parser"]
    cond = torch.zeros(77, 8)
    if MODEL.is_sdxl:
        cond = {"crossattn": cond, "vector": torch.zeros(4)}
    schedule = [parser.ScheduledPromptConditioning(1000, cond)]
    if not positive:
        return [schedule]
    part = parser.ComposableScheduledPromptConditioning(schedule, 1.0)
    return parser.MulticondLearnedConditioning((1,), [[part]])


def parameters(led: Led, loop: Loop) -> Any:
    """A unit as `controlnet_main_entry` hands it to the hook."""
    hooks, enums = sys.modules["scripts.hook"], sys.modules["scripts.enums"]
    types = enums.ControlModelType
    hint = torch.zeros(1, 3, 8 * SIDE, 8 * SIDE)
    count = ADAPTER_IMAGES if led.adapts else 9 + 1 if loop.sdxl else 12 + 1

    def network(x: Any, hint: Any, **_: Any) -> list[Any]:
        assert hint.shape[2:] == (8 * x.shape[2], 8 * x.shape[3])
        rows = 1 if led.adapts else len(x)
        return [torch.ones(rows, 1, 2, 2) for _ in range(count)]

    network.disable_memory_management = True
    first = [[SimpleNamespace(in_channels=4)]]
    network.control_model = SimpleNamespace(input_blocks=first)
    return hooks.ControlParams(
        control_model=network,
        preprocessor={"name": led.module},
        hint_cond=hint,
        weight=led.weight,
        guidance_stopped=False,
        start_guidance_percent=led.range[0],
        stop_guidance_percent=led.range[1],
        advanced_weighting=None,
        control_model_type=types.T2I_Adapter if led.adapts else types.ControlNet,
        hr_hint_cond=hint.repeat(1, 1, 2, 2) if loop.enlarged else None,
        global_average_pooling=led.means,
        soft_injection=led.mode is not ControlMode.BALANCED,
        cfg_injection=led.mode is ControlMode.CONTROL,
    )


def new_sampler(loop: Loop) -> Any:
    """A1111's sampler of this name (`create_sampler`)."""
    label = LABELS[loop.sampler]
    for module, lists in (("kdiffusion", "k_diffusion"), ("timesteps", "timesteps")):
        made = sys.modules[f"modules.sd_samplers_{module}"]
        for data in getattr(made, f"samplers_data_{lists}"):
            if data.name == label:
                return configured(data)
    raise ValueError(label)


def configured(data: Any) -> Any:
    sampler = data.constructor(MODEL)
    sampler.config = data
    return sampler


def prepare(webui: Path, controlnet: Path) -> None:
    """Make the tools' files importable, with stand-ins for what is left out."""
    load("sampling")
    load("external")
    for name in ("fastapi", "gradio", "lark"):
        sys.modules.setdefault(name, MagicMock())
    package = package_of("modules", webui)
    opts = Options(data={}, live_preview_content="Combined", beta_dist_alpha=0.6)
    opts.batch_cond_uncond = True
    opts.no_dpmpp_sde_batch_determinism = False
    opts.eta_ancestral = 1.0
    opts.uni_pc_variant, opts.uni_pc_skip_type, opts.uni_pc_order = "bh1", "time_uniform", 3
    opts.uni_pc_lower_order_final = True
    shared = MagicMock(
        opts=opts, state=SimpleNamespace(interrupted=False, skipped=False), sd_model=MODEL
    )
    shared.cmd_opts = SimpleNamespace(lowvram=False, medvram=False)
    devices = MagicMock(device=torch.device("cpu"), cpu=torch.device("cpu"))
    devices.dtype_unet = torch.float32
    devices.randn_local = lambda seed, size: torch.zeros(size)
    devices.cond_cast_unet = lambda x: x
    stand_ins: dict[str, Any] = {"shared": shared, "devices": devices}
    for name in ("images", "sd_vae_approx", "sd_samplers", "sd_vae_taesd", "sd_models", "scripts"):
        stand_ins[name] = MagicMock()
    for name in ("errors", "timer", "extensions", "util", "processing", "lowvram"):
        stand_ins[name] = MagicMock()
    for name, module in stand_ins.items():
        sys.modules[f"modules.{name}"] = module
        setattr(package, name, module)
    callbacks = importlib.import_module("modules.script_callbacks")
    vars(callbacks)["cfg_denoiser_callback"] = call_back
    for name in ("prompt_parser", "sd_samplers_kdiffusion", "sd_samplers_timesteps"):
        importlib.import_module(f"modules.{name}")
    vars(sys.modules["modules.sd_samplers_common"])["store_latent"] = lambda _: None
    load_hook(controlnet)


def call_back(given: Any) -> None:
    """`cfg_denoiser_callback`, without the order of extensions."""
    for denoiser_callback in DENOISER_CALLBACKS:
        denoiser_callback(given)


def load_hook(controlnet: Path) -> None:
    """The hook of sd-webui-controlnet; of `ldm` it only uses three functions and two classes."""
    package_of("scripts", controlnet)
    for name in ("ldm", "sgm"):
        for inner in ("modules.diffusionmodules.util", "models.diffusion.ddpm"):
            sys.modules[f"{name}.{inner}"] = MagicMock()
        attention = ModuleType(f"{name}.modules.attention")
        vars(attention)["BasicTransformerBlock"] = type("BasicTransformerBlock", (), {})
        sys.modules[attention.__name__] = attention
        for inner in ("modules", "modules.diffusionmodules", "models", "models.diffusion"):
            sys.modules[f"{name}.{inner}"] = MagicMock()
        sys.modules[name] = MagicMock()
    network = ModuleType("ldm.modules.diffusionmodules.openaimodel")
    vars(network)["UNetModel"] = UNet
    sys.modules[network.__name__] = network
    for name in ("logging", "ipadapter", "ipadapter.ipadapter_model", "controlnet_sparsectrl"):
        sys.modules[f"scripts.{name}"] = MagicMock()
    # For ReVision alone, which no case has.
    util = sys.modules["ldm.modules.diffusionmodules.util"]
    vars(util)["make_beta_schedule"] = lambda *_, **__: np.linspace(1e-4, 2e-2, 1000)
    sparse = type("SparseCtrl", (), {})
    vars(sys.modules["scripts.controlnet_sparsectrl"])["SparseCtrl"] = sparse
    importlib.import_module("scripts.hook")


def package_of(name: str, checkout: Path) -> ModuleType:
    package = ModuleType(name)
    package.__path__ = [str(checkout / name)]
    sys.modules[name] = package
    return package


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
