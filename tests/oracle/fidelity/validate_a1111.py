"""AUTOMATIC1111's own samplers, noise and prompts, with the rest of the tool put in their place."""
# pyright: basic, reportMissingImports=false

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tests.oracle.fidelity.networks import SHAPE, Networks, alphas_cumprod, init_picture
from tests.oracle.fidelity.picture import Picture
from tests.oracle.fidelity.validate import enter
from tests.oracle.k_diffusion import load as load_k

TOOL = "A1111"
_REAL = frozenset(
    {
        "rng",
        "rng_philox",
        "prompt_parser",
        "sd_emphasis",
        "sd_hijack_clip",
        "sd_samplers",
        "sd_samplers_common",
        "sd_samplers_cfg_denoiser",
        "sd_samplers_extra",
        "sd_samplers_kdiffusion",
        "sd_samplers_lcm",
        "sd_samplers_timesteps",
        "sd_samplers_timesteps_impl",
        "sd_schedulers",
        "torch_utils",
        "models",
        "models.diffusion",
        "models.diffusion.uni_pc",
        "models.diffusion.uni_pc.uni_pc",
        "models.diffusion.uni_pc.sampler",
    }
)
# The tool's own defaults (`shared_options.py`).
_OPTIONS: dict[str, Any] = {
    "always_discard_next_to_last_sigma": False,
    "batch_cond_uncond": True,
    "beta_dist_alpha": 0.6,
    "beta_dist_beta": 0.6,
    "CLIP_stop_at_last_layers": 1,
    "comma_padding_backtrack": 20,
    "emphasis": "Original",
    "enable_quantization": False,
    "eta_ancestral": 1.0,
    "eta_ddim": 0.0,
    "eta_noise_seed_delta": 0,
    "hide_samplers": [],
    "img2img_extra_noise": 0,
    "img2img_fix_steps": False,
    "live_preview_content": "Prompt",
    "live_previews_enable": False,
    "no_dpmpp_sde_batch_determinism": False,
    "pad_cond_uncond": False,
    "pad_cond_uncond_v0": False,
    "randn_source": "CPU",
    "refiner_switch_by_sample_steps": False,
    "rho": 0.0,
    "s_min_uncond_all": False,
    "sgm_noise_multiplier": False,
    "show_progress_every_n_steps": 0,
    "sigma_max": 0.0,
    "sigma_min": 0.0,
    "skip_early_cond": 0.0,
    "textual_inversion_add_hashes_to_infotext": False,
    "uni_pc_lower_order_final": True,
    "uni_pc_order": 3,
    "uni_pc_skip_type": "time_uniform",
    "uni_pc_variant": "bh1",
    "use_old_emphasis_implementation": False,
    "use_old_karras_scheduler_sigmas": False,
}


class _Sides:
    """The tool's modules and what stands in for the rest."""

    def __init__(self, checkout: Path) -> None:
        load_k("sampling")
        load_k("external")
        sys.modules["k_diffusion"].external = load_k("external")  # type: ignore[attr-defined]
        enter(checkout, "modules", _REAL)
        self.shared = ModuleType("modules.shared")
        self.options = SimpleNamespace(**_OPTIONS)
        cpu = torch.device("cpu")
        state = SimpleNamespace(interrupted=False, skipped=False, sampling_step=0, sampling_steps=0)
        progress = SimpleNamespace(update=lambda: None)
        vars(self.shared).update(
            opts=self.options, state=state, device=cpu, sd_model=None, total_tqdm=progress
        )
        devices = ModuleType("modules.devices")
        vars(devices).update(device=cpu, cpu=cpu, torch_npu_set_device=lambda: None)
        sys.modules["modules.shared"], sys.modules["modules.devices"] = self.shared, devices
        package = sys.modules["modules"]
        vars(package).update(shared=self.shared, devices=devices)
        _callbacks()
        from modules import prompt_parser, rng, sd_hijack_clip, sd_samplers  # type: ignore

        self.rng, self.parser = rng, prompt_parser
        self.text, self.samplers = sd_hijack_clip, sd_samplers
        self.rescaled: Callable[[Any], Any] = _function(
            checkout / "modules" / "sd_models.py", "rescale_zero_terminal_snr_abar"
        )


def _callbacks() -> None:
    """The hooks of extensions: none is there."""
    module = ModuleType("modules.script_callbacks")

    class Parameters(SimpleNamespace):
        def __init__(self, *values: Any) -> None:
            names = ("x", "image_cond", "sigma", "step", "steps", "text_cond", "text_uncond", "own")
            super().__init__(**dict(zip(names, values, strict=False)))

    for name in ("AfterCFG", "CFGDenoised", "CFGDenoiser"):
        setattr(
            module, f"{name}CallbackParams" if name == "AfterCFG" else f"{name}Params", Parameters
        )
    for name in ("cfg_after_cfg", "cfg_denoised", "cfg_denoiser", "extra_noise"):
        setattr(module, f"{name}_callback", lambda parameters: None)
    module.ExtraNoiseParams = Parameters  # type: ignore[attr-defined]
    sys.modules["modules.script_callbacks"] = module


def _function(path: Path, name: str) -> Any:
    """One function of a module whose imports cannot be had."""
    tree = ast.parse(path.read_text())
    found: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    space: dict[str, Any] = {"torch": torch}
    exec(compile(ast.Module(found, []), str(path), "exec"), space)
    return space[name]


class _Model:
    """The checkpoint as the tool's samplers know it."""

    is_sdxl = False
    cond_stage_key = "txt"
    device = torch.device("cpu")
    model = SimpleNamespace(conditioning_key="crossattn")

    def __init__(self, sides: _Sides, networks: Networks, picture: Picture) -> None:
        self.networks = networks
        self.parameterization = "v" if picture.prediction == "v_prediction" else "eps"
        products = alphas_cumprod()
        self.alphas_cumprod = sides.rescaled(products) if picture.zero_terminal_snr else products
        wrapped = SimpleNamespace(
            tokenizer=networks.tokenizer, transformer=_Encoder(networks), is_trainable=False
        )
        database = SimpleNamespace(find_embedding_at_position=lambda tokens, offset: (None, None))
        hijack = SimpleNamespace(embedding_db=database, extra_generation_params={}, fixes=None)
        self.text = sides.text.FrozenCLIPEmbedderWithCustomWords(wrapped, hijack)
        self.cond_stage_model_empty_prompt = self.text([""])

    def get_learned_conditioning(self, texts: Any) -> Any:
        return self.text(texts)

    def apply_model(self, x: Any, t: Any, cond: Any) -> Any:
        return self.networks.predict(x, t, cond["c_crossattn"][0])


class _Encoder(torch.nn.Module):
    def __init__(self, networks: Networks) -> None:
        super().__init__()
        self.networks = networks
        self.text_model = networks.text_model

    def forward(self, input_ids: Any, output_hidden_states: int) -> Any:
        return self.networks.text_encoder(input_ids, output_hidden_states=True)


def load(checkout: Path) -> Any:
    """A function that renders a picture with the tool's code."""
    sides = _Sides(checkout)

    def render(networks: Networks, picture: Picture) -> NDArray[np.uint8]:
        with torch.no_grad():
            vars(sides.options).clear()
            vars(sides.options).update(_OPTIONS | _options(picture))
            model = _Model(sides, networks, picture)
            sides.shared.sd_model = model  # type: ignore[attr-defined]
            return networks.pixels(_sampled(sides, model, picture), rounds=False)

    return render


def _options(picture: Picture) -> dict[str, Any]:
    labels = {"": "Original", "original": "Original", "no_norm": "No norm", "none": "Ignore"}
    chosen: dict[str, Any] = {
        "randn_source": "NV" if picture.source == "cuda" else "CPU",
        "CLIP_stop_at_last_layers": picture.clip_skip,
        "emphasis": labels[picture.emphasis],
        "pad_cond_uncond": picture.pads_chunks,
        "sgm_noise_multiplier": picture.widens_first_noise,
        "always_discard_next_to_last_sigma": picture.discards_next_to_last,
        "eta_noise_seed_delta": picture.eta_seed_delta,
        "sigma_min": picture.sigma_min or 0,
        "sigma_max": picture.sigma_max or 0,
        "rho": picture.rho or 0,
    }
    churn = {
        "s_churn": picture.churn,
        "s_tmin": picture.churn_from,
        "s_tmax": picture.churn_to,
        "s_noise": picture.noise_scale,
    }
    return chosen | {name: value for name, value in churn.items() if value is not None}


def _sampled(sides: _Sides, model: _Model, picture: Picture) -> Any:
    sampler = sides.samplers.create_sampler(picture.sampler, model)
    turned = picture.variation_strength != 0
    seeds = [picture.seed + (0 if turned else picture.batch_index)]
    height, width = (0, 0) if picture.resize_from is None else picture.resize_from[::-1]
    noise = sides.rng.ImageRNG(
        SHAPE,
        seeds,
        subseeds=[(picture.variation_seed or 0) + picture.batch_index],
        subseed_strength=picture.variation_strength,
        seed_resize_from_h=height,
        seed_resize_from_w=width,
    )
    p = _processing(picture, noise, seeds)
    evaluations = sampler.config.total_steps(picture.steps)
    texts = (sides.parser.SdConditioning([text]) for text in (picture.prompt, picture.negative))
    cond = sides.parser.get_multicond_learned_conditioning(model, next(texts), evaluations)
    uncond = sides.parser.get_learned_conditioning(model, next(texts), evaluations)
    if picture.guided != (0.0, 1.0):
        _guide_between(sampler, picture)
    beside = torch.zeros(1, 5, 1, 1)
    first = noise.next()
    if picture.strength is None:
        return sampler.sample(p, first, cond, uncond, image_conditioning=beside)
    init = model.networks.latent(init_picture())
    return sampler.sample_img2img(p, init, first, cond, uncond, image_conditioning=beside)


def _processing(picture: Picture, noise: Any, seeds: list[int]) -> Any:
    """The part of a request that the tool keeps."""
    return SimpleNamespace(
        steps=picture.steps,
        cfg_scale=picture.guidance,
        eta=picture.eta,
        rng=noise,
        all_seeds=seeds,
        iteration=0,
        batch_size=1,
        scheduler=picture.schedule or "Automatic",
        is_hr_pass=False,
        scripts=None,
        sampler_noise_scheduler_override=None,
        extra_generation_params={},
        denoising_strength=picture.strength,
        s_min_uncond=0.0,
        s_churn=0.0,
        s_tmin=0.0,
        s_tmax=float("inf"),
        s_noise=1.0,
        refiner_switch_at=None,
        refiner_checkpoint_info=None,
    )


def _guide_between(sampler: Any, picture: Picture) -> None:
    """The tool has no such option: its own denoiser is asked for guidance 1 outside."""
    wrapped, forward = sampler.model_wrap_cfg, sampler.model_wrap_cfg.forward

    def outside(x: Any, sigma: Any, **named: Any) -> Any:
        start, end = picture.guided
        if not start <= wrapped.step / picture.steps <= end:
            named["cond_scale"] = 1.0
        return forward(x, sigma, **named)

    wrapped.forward = outside
