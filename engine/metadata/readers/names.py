"""The tools' names of samplers and schedules, mapped to ours.

The tables hold our values as text, taken from each tool's source: the names that it accepts and
writes. A name that maps to None has no counterpart here.
"""

from collections.abc import Mapping
from typing import TypeVar

from engine.api import SamplerName, ScheduleName

# AUTOMATIC1111 1.10, `modules/sd_samplers_*.py`: labels and aliases; and Forge, `modules_forge/`.
A1111_SAMPLERS = {
    "euler": "euler",
    "k_euler": "euler",
    "euler a": "euler_a",
    "k_euler_a": "euler_a",
    "k_euler_ancestral": "euler_a",
    "heun": "heun",
    "k_heun": "heun",
    "lms": "lms",
    "k_lms": "lms",
    "dpm2": "dpm2",
    "k_dpm_2": "dpm2",
    "dpm2 a": "dpm2_a",
    "k_dpm_2_a": "dpm2_a",
    "dpm++ 2s a": "dpmpp_2s_a",
    "k_dpmpp_2s_a": "dpmpp_2s_a",
    "dpm++ 2m": "dpmpp_2m",
    "k_dpmpp_2m": "dpmpp_2m",
    "dpm++ sde": "dpmpp_sde",
    "k_dpmpp_sde": "dpmpp_sde",
    "dpm++ 2m sde": "dpmpp_2m_sde",
    "k_dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpm++ 2m sde heun": "dpmpp_2m_sde_heun",
    "k_dpmpp_2m_sde_heun": "dpmpp_2m_sde_heun",
    "dpm++ 3m sde": "dpmpp_3m_sde",
    "k_dpmpp_3m_sde": "dpmpp_3m_sde",
    "dpm fast": "dpm_fast",
    "k_dpm_fast": "dpm_fast",
    "dpm adaptive": "dpm_adaptive",
    "k_dpm_ad": "dpm_adaptive",
    "restart": "restart",
    "ddim": "ddim",
    "ddim cfg++": "ddim_cfg_pp",
    "ddim_cfgpp": "ddim_cfg_pp",
    "plms": "plms",
    "unipc": "unipc",
    "unipc bh2": "unipc_bh2",
    "lcm": "lcm",
    "ddpm": "ddpm",
    "deis": "deis",
    "tcd": "tcd",
    "euler cfg++": "euler_cfg_pp",
    "euler a cfg++": "euler_a_cfg_pp",
    "res multistep": "res_multistep",
    "heunpp2": None,
    "ipndm": None,
    "ipndm_v": None,
}
# `modules/sd_schedulers.py`: labels, names and aliases.
A1111_SCHEDULES = {
    "normal": "normal",
    "uniform": "uniform",
    "karras": "karras",
    "exponential": "exponential",
    "polyexponential": "polyexponential",
    "sgm uniform": "sgm_uniform",
    "sgm_uniform": "sgm_uniform",
    "sgmuniform": "sgm_uniform",
    "kl optimal": "kl_optimal",
    "kl_optimal": "kl_optimal",
    "align your steps": "align_your_steps",
    "align_your_steps": "align_your_steps",
    "simple": "simple",
    "ddim": "ddim",
    "beta": "beta",
    "linear quadratic": "linear_quadratic",
    "turbo": None,
    "align your steps gits": None,
    "align your steps 11": None,
    "align your steps 32": None,
}

# ComfyUI 0.3, `comfy/samplers.py`: KSAMPLER_NAMES and those after it. SwarmUI and Fooocus use them.
COMFY_SAMPLERS = {
    "euler": "euler",
    "euler_cfg_pp": "euler_cfg_pp",
    "euler_ancestral": "euler_a",
    "euler_ancestral_cfg_pp": "euler_a_cfg_pp",
    "heun": "heun",
    "heunpp2": None,
    "dpm_2": "dpm2",
    "dpm_2_ancestral": "dpm2_a",
    "lms": "lms",
    "dpm_fast": "dpm_fast",
    "dpm_adaptive": "dpm_adaptive",
    "dpmpp_2s_ancestral": "dpmpp_2s_a",
    "dpmpp_2s_ancestral_cfg_pp": None,
    "dpmpp_sde": "dpmpp_sde",
    "dpmpp_sde_gpu": "dpmpp_sde",
    "dpmpp_2m": "dpmpp_2m",
    "dpmpp_2m_cfg_pp": None,
    "dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpmpp_2m_sde_gpu": "dpmpp_2m_sde",
    "dpmpp_2m_sde_heun": "dpmpp_2m_sde_heun",
    "dpmpp_2m_sde_heun_gpu": "dpmpp_2m_sde_heun",
    "dpmpp_3m_sde": "dpmpp_3m_sde",
    "dpmpp_3m_sde_gpu": "dpmpp_3m_sde",
    "ddpm": "ddpm",
    "lcm": "lcm",
    "ipndm": None,
    "ipndm_v": None,
    "deis": "deis",
    "res_multistep": "res_multistep",
    "res_multistep_cfg_pp": None,
    "res_multistep_ancestral": None,
    "res_multistep_ancestral_cfg_pp": None,
    "gradient_estimation": None,
    "gradient_estimation_cfg_pp": None,
    "er_sde": None,
    "seeds_2": None,
    "seeds_3": None,
    "sa_solver": None,
    "sa_solver_pece": None,
    "ddim": "ddim",
    "uni_pc": "unipc",
    "uni_pc_bh2": "unipc_bh2",
    # Fooocus' own.
    "restart": "restart",
    "tcd": "tcd",
}
# SCHEDULER_HANDLERS, and Fooocus' and SwarmUI's own.
COMFY_SCHEDULES = {
    "normal": "normal",
    "karras": "karras",
    "exponential": "exponential",
    "sgm_uniform": "sgm_uniform",
    "simple": "simple",
    "ddim_uniform": "ddim",
    "beta": "beta",
    "linear_quadratic": "linear_quadratic",
    "kl_optimal": "kl_optimal",
    "align_your_steps": "align_your_steps",
    # Those of the Impact and Efficiency nodes.
    "ays sd1": "align_your_steps",
    "ays sdxl": "align_your_steps",
    "lcm": None,
    "turbo": None,
    "tcd": None,
    "edm_playground_v2.5": None,
}

# InvokeAI 6, `backend/stable_diffusion/schedulers/schedulers.py`: diffusers' schedulers. A name
# ending in `_k` has Karras' schedule. `dpmpp_2s` and `dpmpp_3m` draw no noise, unlike ours.
INVOKE_SAMPLERS = {
    "ddim": "ddim",
    "ddpm": "ddpm",
    "deis": "deis",
    "lms": "lms",
    "pndm": "plms",
    "heun": "heun",
    "euler": "euler",
    "euler_a": "euler_a",
    "kdpm_2": "dpm2",
    "kdpm_2_a": "dpm2_a",
    "dpmpp_2s": None,
    "dpmpp_2m": "dpmpp_2m",
    "dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpmpp_3m": None,
    "dpmpp_sde": "dpmpp_sde",
    "er_sde": None,
    "unipc": "unipc",
    "lcm": "lcm",
    "tcd": "tcd",
    # Of versions before 3, as `frontend/install/import_images.py` translates them.
    "plms": "plms",
    "k_lms": "lms",
    "k_dpm_2": "dpm2",
    "k_dpm_2_a": "dpm2_a",
    "dpmpp_2": None,
    "k_dpmpp_2": "dpmpp_2m",
    "k_dpmpp_2_a": None,
    "k_euler": "euler",
    "k_euler_a": "euler_a",
    "k_heun": "heun",
}

# Easy Diffusion 3.5, `backends/webui_common.py`, with what earlier versions had.
EASY_DIFFUSION_SAMPLERS = {
    "dpmpp_2m": "dpmpp_2m",
    "dpmpp_2m_v2": None,
    "dpmpp_sde": "dpmpp_sde",
    "dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpmpp_2m_sde_heun": "dpmpp_2m_sde_heun",
    "dpmpp_2s_a": "dpmpp_2s_a",
    "dpmpp_3m_sde": "dpmpp_3m_sde",
    "euler_a": "euler_a",
    "euler": "euler",
    "lms": "lms",
    "heun": "heun",
    "dpm2": "dpm2",
    "dpm2_a": "dpm2_a",
    "dpm_fast": "dpm_fast",
    "dpm_adaptive": "dpm_adaptive",
    "restart": "restart",
    "heun_pp2": None,
    "ipndm": None,
    "ipndm_v": None,
    "deis": "deis",
    "ddim": "ddim",
    "ddim_cfgpp": "ddim_cfg_pp",
    "plms": "plms",
    "unipc": "unipc",
    "lcm": "lcm",
    "ddpm": "ddpm",
    "tcd": "tcd",
    "forge_flux_realistic": None,
    "forge_flux_realistic_slow": None,
    "dpm_solver_stability": None,
}
# Its UniPC samplers, whose orders and timesteps match none of ours, and the most similar: sdkit,
# `generate/sampler/unipc_samplers/` and, with other options, `diffusers_samplers.py`.
EASY_DIFFUSION_LIKE = {
    "unipc_snr": "unipc",
    "unipc_snr_2": "unipc",
    "unipc_tu": "unipc_bh2",
    "unipc_tu_2": "unipc",
    "unipc_tq": "unipc",
}

# stable-diffusion.cpp, `src/stable-diffusion.cpp`: sample_method_to_str and scheduler_to_str.
SDCPP_SAMPLERS = {
    "euler": "euler",
    "euler_a": "euler_a",
    "heun": "heun",
    "dpm2": "dpm2",
    "dpm++2s_a": "dpmpp_2s_a",
    "dpm++2m": "dpmpp_2m",
    "dpm++2mv2": None,
    "ipndm": None,
    "ipndm_v": None,
    "lcm": "lcm",
    "ddim_trailing": "ddim",
    "tcd": "tcd",
    "res_multistep": "res_multistep",
    "res_2s": None,
    "er_sde": None,
    "euler_cfg_pp": "euler_cfg_pp",
    "euler_a_cfg_pp": "euler_a_cfg_pp",
    "euler_ge": None,
    "dpm++2m_sde": "dpmpp_2m_sde",
    "dpm++2m_sde_bt": "dpmpp_2m_sde",
    "lms": "lms",
}
SDCPP_SCHEDULES = {
    "discrete": "normal",
    "karras": "karras",
    "exponential": "exponential",
    "ays": "align_your_steps",
    "sgm_uniform": "sgm_uniform",
    "simple": "simple",
    "kl_optimal": "kl_optimal",
    "beta": "beta",
    "gits": None,
    "smoothstep": None,
    "lcm": None,
    "bong_tangent": None,
    "ltx2": None,
    "logit_normal": None,
    "flux2": None,
    "flux": None,
}

# NovelAI's settings as its pictures name them; the first four sampler families are k-diffusion's.
NOVELAI_SAMPLERS = {
    "k_euler": "euler",
    "k_euler_ancestral": "euler_a",
    "k_heun": "heun",
    "k_lms": "lms",
    "k_dpm_2": "dpm2",
    "k_dpm_2_ancestral": "dpm2_a",
    "k_dpm_fast": "dpm_fast",
    "k_dpm_adaptive": "dpm_adaptive",
    "k_dpmpp_2s_ancestral": "dpmpp_2s_a",
    "k_dpmpp_2m": "dpmpp_2m",
    "k_dpmpp_2m_sde": "dpmpp_2m_sde",
    "k_dpmpp_sde": "dpmpp_sde",
    "ddim": "ddim",
    "ddim_v3": "ddim",
    "plms": "plms",
    "nai_smea": None,
    "nai_smea_dyn": None,
}
NOVELAI_SCHEDULES = {
    "native": "normal",
    "karras": "karras",
    "exponential": "exponential",
    "polyexponential": "polyexponential",
}

# The schedule of AUTOMATIC1111's "Automatic" where it is not the normal one.
A1111_AUTOMATIC = {
    "dpmpp_2m": "karras",
    "dpmpp_sde": "karras",
    "dpmpp_2m_sde": "exponential",
    "dpmpp_2m_sde_heun": "exponential",
    "dpmpp_2s_a": "karras",
    "dpmpp_3m_sde": "exponential",
    "dpm2": "karras",
    "dpm2_a": "karras",
    "restart": "karras",
}
# AUTOMATIC1111 uses these samplers' own timesteps, whatever the schedule.
A1111_OWN_TIMESTEPS = frozenset({"ddim", "ddim_cfg_pp", "plms", "unipc", "unipc_bh2"})

# Tables for text that any tool may have written.
ANY_SAMPLERS = SDCPP_SAMPLERS | COMFY_SAMPLERS | A1111_SAMPLERS
ANY_SCHEDULES = SDCPP_SCHEDULES | COMFY_SCHEDULES | A1111_SCHEDULES
# Tables for names that a person writes, who may know any tool's names.
EVERY_SAMPLER = NOVELAI_SAMPLERS | INVOKE_SAMPLERS | EASY_DIFFUSION_SAMPLERS | ANY_SAMPLERS
EVERY_SCHEDULE = NOVELAI_SCHEDULES | ANY_SCHEDULES

Name = TypeVar("Name", SamplerName, ScheduleName)


def sampler_of(table: Mapping[str, str | None], name: str) -> SamplerName | None:
    """Return our sampler for a tool's name, ignoring case; None if there is none."""
    return _known(table.get(name.casefold()), SamplerName)


def schedule_of(table: Mapping[str, str | None], name: str) -> ScheduleName | None:
    """Return our schedule for a tool's name, ignoring case; None if there is none."""
    return _known(table.get(name.casefold()), ScheduleName)


def _known(value: str | None, names: type[Name]) -> Name | None:
    return next((name for name in names if name.value == value), None)


def split_method(name: str) -> tuple[str, str | None]:
    """Split "DPM++ 2M Karras" into the names of sampler and schedule, in lower case.

    The schedule is None if none is named.
    """
    name = name.casefold()
    for schedule in (*EVERY_SCHEDULE, "automatic"):
        if name.endswith((" " + schedule, "_" + schedule)) and name not in EVERY_SAMPLER:
            return name[: -len(schedule) - 1], schedule
    return name, None
