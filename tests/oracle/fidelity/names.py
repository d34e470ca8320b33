"""Safelight's names of the tools' samplers and schedules."""

A1111_SAMPLERS = {
    "DPM++ 2M": "dpmpp_2m",
    "DPM++ SDE": "dpmpp_sde",
    "DPM++ 2M SDE": "dpmpp_2m_sde",
    "DPM++ 2M SDE Heun": "dpmpp_2m_sde_heun",
    "DPM++ 2S a": "dpmpp_2s_a",
    "DPM++ 3M SDE": "dpmpp_3m_sde",
    "Euler a": "euler_a",
    "Euler": "euler",
    "LMS": "lms",
    "Heun": "heun",
    "DPM2": "dpm2",
    "DPM2 a": "dpm2_a",
    "DPM fast": "dpm_fast",
    "DPM adaptive": "dpm_adaptive",
    "Restart": "restart",
    "LCM": "lcm",
    "DDIM": "ddim",
    "DDIM CFG++": "ddim_cfg_pp",
    "PLMS": "plms",
    "UniPC": "unipc",
}
COMFY_SAMPLERS = {
    "euler": "euler",
    "euler_cfg_pp": "euler_cfg_pp",
    "euler_ancestral": "euler_a",
    "euler_ancestral_cfg_pp": "euler_a_cfg_pp",
    "heun": "heun",
    "dpm_2": "dpm2",
    "dpm_2_ancestral": "dpm2_a",
    "lms": "lms",
    "dpm_fast": "dpm_fast",
    "dpm_adaptive": "dpm_adaptive",
    "dpmpp_2s_ancestral": "dpmpp_2s_a",
    "dpmpp_sde": "dpmpp_sde",
    "dpmpp_2m": "dpmpp_2m",
    "dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpmpp_2m_sde_heun": "dpmpp_2m_sde_heun",
    "dpmpp_3m_sde": "dpmpp_3m_sde",
    "ddpm": "ddpm",
    "lcm": "lcm",
    "deis": "deis",
    "res_multistep": "res_multistep",
    "ddim": "ddim",
    "uni_pc": "unipc",
    "uni_pc_bh2": "unipc_bh2",
}
# Not rows of the table of all samplers: noise of the card.
COMFY_ON_CARD = {
    "dpmpp_sde_gpu": "dpmpp_sde",
    "dpmpp_2m_sde_gpu": "dpmpp_2m_sde",
    "dpmpp_3m_sde_gpu": "dpmpp_3m_sde",
}
DIFFUSERS_SAMPLERS = {
    "DDIM": "ddim",
    "DDPM": "ddpm",
    "PNDM": "plms",
    "LMSDiscrete": "lms",
    "HeunDiscrete": "heun",
    "EulerDiscrete": "euler",
    "EulerAncestralDiscrete": "euler_a",
    "KDPM2Discrete": "dpm2",
    "KDPM2AncestralDiscrete": "dpm2_a",
    "DPMSolverMultistep": "dpmpp_2m",
    "DPMSolverMultistep SDE": "dpmpp_2m_sde",
    "DEISMultistep": "deis",
    "UniPCMultistep": "unipc",
    "LCM": "lcm",
    "TCD": "tcd",
}
# InvokeAI's name: our sampler and schedule.
INVOKE_SAMPLERS = {
    "ddim": ("ddim", "ddim"),
    "ddpm": ("ddpm", "ddim"),
    "deis": ("deis", "normal"),
    "deis_k": ("deis", "karras"),
    "lms": ("lms", "normal"),
    "lms_k": ("lms", "karras"),
    "pndm": ("plms", "ddim"),
    "heun": ("heun", "normal"),
    "heun_k": ("heun", "karras"),
    "euler": ("euler", "normal"),
    "euler_k": ("euler", "karras"),
    "euler_a": ("euler_a", "normal"),
    "kdpm_2": ("dpm2", "normal"),
    "kdpm_2_k": ("dpm2", "karras"),
    "kdpm_2_a": ("dpm2_a", "normal"),
    "kdpm_2_a_k": ("dpm2_a", "karras"),
    "dpmpp_2m": ("dpmpp_2m", "normal"),
    "dpmpp_2m_k": ("dpmpp_2m", "karras"),
    "dpmpp_2m_sde": ("dpmpp_2m_sde", "normal"),
    "dpmpp_2m_sde_k": ("dpmpp_2m_sde", "karras"),
    "dpmpp_sde": ("dpmpp_sde", "normal"),
    "dpmpp_sde_k": ("dpmpp_sde", "karras"),
    "unipc": ("unipc", "normal"),
    "unipc_k": ("unipc", "karras"),
    "lcm": ("lcm", "sgm_uniform"),
    "tcd": ("tcd", "sgm_uniform"),
}
_SCHEDULES = {
    "ddim_uniform": "ddim",
    "leading": "ddim",
    "linspace": "normal",
    "trailing": "sgm_uniform",
}


def schedule_name(theirs: str) -> str:
    """Our name for a tool's schedule; "" for ""."""
    plain = theirs.lower().replace(" ", "_")
    return _SCHEDULES.get(plain, plain)
