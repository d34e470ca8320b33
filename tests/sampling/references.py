"""The reference of each sampler, step by step: one table for all samplers of k-diffusion.

The frozen trajectories (test_samplers.py) and the live comparison (tests/oracle/test_samplers.py)
both go through it. Restart is A1111's, not k-diffusion's, and has its own: see freeze_restart.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engine.sampling.samplers import (
    SdeCorrection,
    dpm2,
    dpm2_ancestral,
    dpm_adaptive,
    dpm_fast,
    dpmpp_2m,
    dpmpp_2m_sde,
    dpmpp_2s_ancestral,
    dpmpp_3m_sde,
    dpmpp_sde,
    euler,
    euler_ancestral,
    heun,
    lms,
)
from engine.sampling.samplers.dpm_adaptive import StepControl
from engine.sampling.types import Sampler


@dataclass(frozen=True, slots=True)
class Reference:
    """A sampler of ours, and the function of `k_diffusion.sampling` with the options it has there.

    `tolerance` is the largest difference of a value of x after any step. Noise at the beginning
    reaches 60, so that a step's rounding is about 4e-6 there.
    """

    ours: Sampler
    theirs: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tolerance: float = 2e-5


_CHURN = {"churn": 4.0, "churn_from": 0.1, "churn_to": 8.0, "noise_scale": 1.01}
_S_CHURN = {"s_churn": 4.0, "s_tmin": 0.1, "s_tmax": 8.0, "s_noise": 1.01}
_HALF = {"eta": 0.5, "noise_scale": 1.01}
_S_HALF = {"eta": 0.5, "s_noise": 1.01}
_S_THIRD = {"r": 1 / 3}
_HEUN = partial(dpmpp_2m_sde, correction=SdeCorrection.HEUN)
_S_HEUN = {"solver_type": "heun"}
_SECOND_ORDER = StepControl(order=2, proportional=0.2, integral=0.8, derivative=0.1, safety=0.9)
_SMALL_ERRORS = StepControl(relative=0.01, absolute=0.001, first=0.2)
_S_SECOND_ORDER = {"order": 2, "pcoeff": 0.2, "icoeff": 0.8, "dcoeff": 0.1, "accept_safety": 0.9}
_S_SMALL_ERRORS = {"rtol": 0.01, "atol": 0.001, "h_init": 0.2}

# The length of a step hangs on the small difference of large latents, and its rounding shifts where
# on the way it ends; in float64 these agree to 1e-10 as well.
_ADAPTIVE = 0.05

REFERENCES: Mapping[str, Reference] = {
    "euler": Reference(euler, "sample_euler"),
    "euler/churn": Reference(partial(euler, **_CHURN), "sample_euler", _S_CHURN),
    "euler_a": Reference(euler_ancestral, "sample_euler_ancestral"),
    "euler_a/half": Reference(partial(euler_ancestral, **_HALF), "sample_euler_ancestral", _S_HALF),
    "heun": Reference(heun, "sample_heun"),
    "heun/churn": Reference(partial(heun, **_CHURN), "sample_heun", _S_CHURN),
    "lms": Reference(lms, "sample_lms"),
    "dpm2": Reference(dpm2, "sample_dpm_2"),
    "dpm2/churn": Reference(partial(dpm2, **_CHURN), "sample_dpm_2", _S_CHURN),
    "dpm2_a": Reference(dpm2_ancestral, "sample_dpm_2_ancestral"),
    "dpm2_a/half": Reference(partial(dpm2_ancestral, **_HALF), "sample_dpm_2_ancestral", _S_HALF),
    "dpm_fast": Reference(dpm_fast, "sample_dpm_fast"),
    "dpm_fast/half": Reference(partial(dpm_fast, **_HALF), "sample_dpm_fast", _S_HALF, 5e-5),
    "dpm_fast/a1111": Reference(partial(dpm_fast, eta=1.0), "sample_dpm_fast", {"eta": 1.0}, 5e-5),
    "dpm_adaptive": Reference(dpm_adaptive, "sample_dpm_adaptive", {}, _ADAPTIVE),
    "dpm_adaptive/half": Reference(
        partial(dpm_adaptive, **_HALF), "sample_dpm_adaptive", _S_HALF, _ADAPTIVE
    ),
    "dpm_adaptive/second_order": Reference(
        *(partial(dpm_adaptive, control=_SECOND_ORDER), "sample_dpm_adaptive"),
        *(_S_SECOND_ORDER, _ADAPTIVE),
    ),
    "dpm_adaptive/small_errors": Reference(
        *(partial(dpm_adaptive, control=_SMALL_ERRORS), "sample_dpm_adaptive"),
        *(_S_SMALL_ERRORS, _ADAPTIVE),
    ),
    "dpmpp_2s_a": Reference(dpmpp_2s_ancestral, "sample_dpmpp_2s_ancestral", {}, 5e-5),
    "dpmpp_2s_a/half": Reference(
        partial(dpmpp_2s_ancestral, **_HALF), "sample_dpmpp_2s_ancestral", _S_HALF, 5e-5
    ),
    "dpmpp_2m": Reference(dpmpp_2m, "sample_dpmpp_2m"),
    "dpmpp_sde": Reference(dpmpp_sde, "sample_dpmpp_sde", {}, 1e-4),
    "dpmpp_sde/half": Reference(partial(dpmpp_sde, **_HALF), "sample_dpmpp_sde", _S_HALF, 1e-4),
    "dpmpp_sde/third": Reference(partial(dpmpp_sde, r=1 / 3), "sample_dpmpp_sde", _S_THIRD, 1e-4),
    "dpmpp_2m_sde": Reference(dpmpp_2m_sde, "sample_dpmpp_2m_sde", {}, 5e-5),
    "dpmpp_2m_sde/half": Reference(
        partial(dpmpp_2m_sde, **_HALF), "sample_dpmpp_2m_sde", _S_HALF, 5e-5
    ),
    "dpmpp_2m_sde_heun": Reference(_HEUN, "sample_dpmpp_2m_sde", _S_HEUN, 5e-5),
    "dpmpp_2m_sde_heun/half": Reference(
        partial(_HEUN, **_HALF), "sample_dpmpp_2m_sde", {**_S_HEUN, **_S_HALF}, 5e-5
    ),
    "dpmpp_3m_sde": Reference(dpmpp_3m_sde, "sample_dpmpp_3m_sde", {}, 5e-5),
    "dpmpp_3m_sde/half": Reference(
        partial(dpmpp_3m_sde, **_HALF), "sample_dpmpp_3m_sde", _S_HALF, 5e-5
    ),
}
