"""Samplers that come from ComfyUI, A1111 and diffusers, beside what ComfyUI and A1111 do.

Beside diffusers: tests/oracle/test_diffusers_samplers.py. The trajectories are frozen from the
tools' own files by freeze_tools.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.api.request import SamplerOptions
from engine.api.values import ConventionName, PredictionType, SamplerName, ScheduleName
from engine.sampling.denoiser import Denoiser
from engine.sampling.samplers import SAMPLERS, bind_options
from engine.sampling.samplers.ddim import ddim
from engine.sampling.samplers.ddim_cfg_pp import ddim_cfg_pp
from engine.sampling.samplers.ddpm import ddpm
from engine.sampling.samplers.deis import DeisTime, deis
from engine.sampling.samplers.euler import euler
from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.samplers.euler_cfg_pp import euler_ancestral_cfg_pp, euler_cfg_pp
from engine.sampling.samplers.lcm import lcm
from engine.sampling.samplers.plms import plms
from engine.sampling.samplers.res_multistep import res_multistep
from engine.sampling.samplers.restart import restart
from engine.sampling.samplers.tcd import tcd
from engine.sampling.samplers.unipc import UniPcVariant, unipc
from engine.sampling.schedules import a1111_timestep_levels, a1111_unipc_levels, sigmas_for
from engine.sampling.schedules.distilled import DistilledSchedule
from engine.sampling.types import GuidedDenoise, GuidedSampler, Latent, Sampler, Sigmas
from tests.sampling.references import REFERENCES as OF_K_DIFFUSION
from tests.sampling.tool_networks import (
    TRAINING,
    WEBUI_GUIDANCE,
    PictureNetwork,
    pictures,
    predict_noise,
)
from tests.sampling.toy import (
    BasisNoise,
    Gaussian,
    RecordedNoise,
    Unguided,
    mixture_denoise,
    no_noise,
)

FROZEN = np.load(Path(__file__).parent / "frozen" / "tools.npz")


@dataclass(frozen=True, slots=True)
class Reference:
    """Our sampler beside a tool's: the largest difference of a value of x after any step.

    As a share of sigma, or of 1 where sigma is less: that is how large x is.
    """

    ours: Sampler | GuidedSampler
    tolerance: float


_BH2, _HALF = UniPcVariant.BH2, {"eta": 0.5, "noise_scale": 1.01}
_COMFY_UNIPC = partial(unipc, ends_at=0.001)
REFERENCES: Mapping[str, Reference] = {
    # ComfyUI, comfy/k_diffusion/sampling.py; uni_pc: comfy/extra_samplers/uni_pc.py.
    "comfy/ddpm": Reference(ddpm, 3e-6),
    "comfy/lcm": Reference(lcm, 3e-6),
    "comfy/ipndm": Reference(partial(plms, improves_first=False), 3e-6),
    "comfy/deis": Reference(deis, 3e-6),
    "comfy/euler_cfg_pp": Reference(euler_cfg_pp, 3e-6),
    "comfy/euler_ancestral_cfg_pp": Reference(euler_ancestral_cfg_pp, 3e-6),
    "comfy/euler_ancestral_cfg_pp/half": Reference(partial(euler_ancestral_cfg_pp, **_HALF), 3e-6),
    "comfy/res_multistep": Reference(res_multistep, 3e-6),
    "comfy/res_multistep_ancestral": Reference(partial(res_multistep, eta=1.0), 3e-6),
    "comfy/res_multistep_ancestral/half": Reference(partial(res_multistep, **_HALF), 3e-6),
    "comfy/uni_pc": Reference(_COMFY_UNIPC, 1e-4),
    "comfy/uni_pc_bh2": Reference(partial(_COMFY_UNIPC, variant=_BH2), 5e-5),
    # A1111, modules/sd_samplers_timesteps_impl.py with models/diffusion/uni_pc.
    "a1111/ddim": Reference(ddim, 1e-5),
    "a1111/ddim/half": Reference(partial(ddim, eta=0.5), 1e-5),
    "a1111/ddim_cfgpp": Reference(ddim_cfg_pp, 3e-6),
    "a1111/ddim_cfgpp/half": Reference(partial(ddim_cfg_pp, eta=0.5), 3e-6),
    "a1111/plms": Reference(plms, 5e-5),
    "a1111/unipc": Reference(unipc, 5e-5),
    "a1111/unipc/bh2": Reference(partial(unipc, variant=_BH2), 5e-5),
    "a1111/unipc/second_order": Reference(partial(unipc, order=2, lower_order_final=False), 5e-4),
}


# Those of A1111's own file, restart.npz, and of diffusers, tests/oracle/test_diffusers_samplers.py.
ELSEWHERE = (restart, tcd)


@pytest.mark.parametrize("name", SamplerName)
def test_every_sampler_has_a_reference(name: SamplerName) -> None:
    tables = (*OF_K_DIFFUSION.values(), *REFERENCES.values())
    compared = {*(function_of(table.ours) for table in tables), *ELSEWHERE}
    assert function_of(SAMPLERS[name].function) in compared, (
        "a sampler of k-diffusion gets a line in tests/sampling/references.py, another tool's one"
        " in tests/sampling/freeze_tools.py and in REFERENCES here"
    )


def function_of(sampler: Sampler | GuidedSampler) -> Sampler | GuidedSampler:
    """The sampler without its options."""
    return sampler.func if isinstance(sampler, partial) else sampler


@pytest.mark.parametrize(
    ("name", "sampler"),
    [
        ("comfy/ddpm", SamplerName.DDPM),
        ("comfy/ipndm", SamplerName.PLMS),
        ("comfy/deis", SamplerName.DEIS),
        ("comfy/euler_cfg_pp", SamplerName.EULER_CFG_PP),
        ("comfy/euler_ancestral_cfg_pp", SamplerName.EULER_ANCESTRAL_CFG_PP),
        ("comfy/res_multistep", SamplerName.RES_MULTISTEP),
        ("comfy/uni_pc", SamplerName.UNIPC),
        ("comfy/uni_pc_bh2", SamplerName.UNIPC_BH2),
        ("a1111/ddim_cfgpp", SamplerName.DDIM_CFG_PP),
        ("a1111/plms", SamplerName.PLMS),
        ("a1111/unipc", SamplerName.UNIPC),
        ("a1111/unipc/bh2", SamplerName.UNIPC_BH2),
    ],
)
def test_each_convention_runs_the_samplers_of_its_tool(name: str, sampler: SamplerName):
    """Bound by name, a sampler is to the last bit the one that is compared below."""
    convention = ConventionName(name.partition("/")[0])
    bound = bind_options(sampler, SamplerOptions(), convention)
    states, sigmas = FROZEN[name], FROZEN[f"{name}/sigmas"]
    for ours, expected in zip(
        bound(PictureNetwork(), states[0], sigmas, RecordedNoise(FROZEN["noise"])),
        REFERENCES[name].ours(PictureNetwork(), states[0], sigmas, RecordedNoise(FROZEN["noise"])),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.x, expected.x)


@pytest.mark.parametrize("name", REFERENCES)
def test_trajectories_equal_the_tools(name: str):
    denoise = PictureNetwork()
    if name.startswith("a1111/"):
        denoise = Denoiser(predict_noise, TRAINING, PredictionType.EPSILON, WEBUI_GUIDANCE)
    reference = REFERENCES[name]
    assert_follows(name, reference.ours, denoise, reference.tolerance)


def test_lcm_equals_a1111s_on_its_own_levels():
    """A1111's schedule "Automatic" for LCM is the normal one on the levels of distillation."""
    levels = DistilledSchedule.of(TRAINING)
    sigmas = sigmas_for(ScheduleName.NORMAL, 8, levels)
    np.testing.assert_allclose(sigmas, FROZEN["a1111/lcm/sigmas"], rtol=1e-6)
    asked: list[float] = []

    def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        asked.append(float(timestep))
        return predict_noise(x, timestep, guided)

    denoise = Denoiser(predict, levels, PredictionType.EPSILON, guidance=1.0)
    assert_follows("a1111/lcm", lcm, denoise, 3e-5)
    assert [timestep % 20 for timestep in asked] == [19] * 8
    assert asked[0] == 999
    assert asked[-1] == 19


def test_the_levels_equal_those_of_a1111():
    """A1111's own arithmetic gives the levels, which a request's plan takes from the schedules."""
    for name, levels in (("ddim", a1111_timestep_levels), ("unipc", a1111_unipc_levels)):
        expected = FROZEN[f"a1111/{name}/sigmas"]
        np.testing.assert_allclose(levels(8, TRAINING).sigmas, expected, rtol=2e-5)


def assert_follows(
    name: str, sampler: Sampler | GuidedSampler, denoise: GuidedDenoise, tolerance: float
) -> None:
    """Step by step from where the tool began, with the noise it drew."""
    states, sigmas = FROZEN[name], FROZEN[f"{name}/sigmas"]
    steps = list(sampler(denoise, states[0], sigmas, RecordedNoise(FROZEN["noise"])))
    assert [step.index for step in steps] == list(range(len(sigmas) - 1))
    for step, expected in zip(steps, states[1:], strict=True):
        assert step.x.dtype == np.float32
        scale = max(1.0, float(sigmas[step.index + 1]))
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize(("place", "sigma"), [(0, 5.0), (1, 1.0), (2, 0.1)])
def test_rescaled_guidance_equals_comfyuis(place: int, sigma: float):
    """The reference is ComfyUI's node RescaleCFG, for a network that predicts noise."""
    x, level = FROZEN["x"] * np.float32(sigma), np.float32(sigma)
    outputs = np.concatenate([(x - picture) / level for picture in pictures(x, level)])
    denoise = Denoiser(
        lambda x, timestep, guided: outputs,
        TRAINING,
        PredictionType.EPSILON,
        guidance=7.0,
        rescale=0.7,
        rescale_as=PredictionType.V,
    )
    expected = FROZEN["comfy/rescale_cfg"][place]
    np.testing.assert_allclose(denoise(x, level), expected, rtol=1e-5, atol=5e-5)
    plain = msgspec.structs.replace(denoise, rescale_as=None)(x, level)
    assert np.abs(plain - expected).max() > 5e-4


def levels(steps: int, unevenness: float = 0.3, shape: float = 1 / 3) -> Sigmas:
    """From 10 to 0.05 in steps of sigma^shape, in turn longer and shorter: their ratio must count.

    In float64, in which samplers then compute: float32 would hide the error behind its rounding.
    """
    index = np.arange(steps + 1)
    ramp = (index + unevenness * (index % 2)) / steps
    return (10**shape + ramp * (0.05**shape - 10**shape)) ** (1 / shape)  # pyright: ignore


_LOG_DEIS = partial(deis, time=DeisTime.LOG_SIGMA)
_UNIPC = partial(unipc, lower_order_final=False)
_EVEN = partial(levels, unevenness=0, shape=1)


@pytest.mark.parametrize(
    ("sampler", "spacing", "expected"),
    [
        (partial(deis, order=1), levels, 1),
        (partial(deis, order=2), levels, 2),
        (deis, levels, 3),
        (partial(_LOG_DEIS, order=2), levels, 2),
        (_LOG_DEIS, partial(levels, unevenness=0), 3),
        (res_multistep, levels, 2),
        # With its corrector, a predictor is of one order more.
        (partial(_UNIPC, order=1), levels, 2),
        (partial(_UNIPC, order=2), levels, 3),
        (_UNIPC, levels, 4),
        (partial(_UNIPC, order=2, variant=UniPcVariant.BH2), levels, 3),
        (partial(_UNIPC, variant=UniPcVariant.BH2), levels, 4),
        # Its weights are those of even steps.
        (plms, _EVEN, 4),
        (partial(plms, improves_first=False), _EVEN, 4),
        (plms, levels, 1),
    ],
)
def test_a_sampler_converges_to_the_solution_with_its_order(
    sampler: Sampler, spacing: Callable[[int], Sigmas], expected: int
):
    problem = Gaussian(mean=0.3, deviation=0.7)
    x = np.array([-8.0, 1.0, 12.0])

    def error(steps: int) -> float:
        sigmas = spacing(steps)
        *_, step = sampler(Unguided(problem.denoise), x, sigmas, no_noise)
        return float(np.abs(step.x - problem.solution(x, sigmas[0], sigmas[-1])).max())

    assert np.log2(error(160) / error(320)) == pytest.approx(expected, abs=0.4)


@pytest.mark.parametrize(
    "sampler",
    [
        ddpm,
        tcd,
        partial(tcd, eta=1.0),
        partial(ddim, eta=0.5),
        lcm,
        euler_ancestral_cfg_pp,
        partial(ddim_cfg_pp, eta=1.0),
        partial(res_multistep, eta=1.0),
        partial(res_multistep, eta=0.5),
    ],
)
def test_noise_has_the_variance_of_the_level(sampler: Sampler | GuidedSampler):
    """The picture is known to be 0, so nothing is approximated: x is all noise."""
    sigmas, count = levels(12), 13
    x = np.zeros(count)
    x[0] = sigmas[0]

    def nothing(x: Latent, sigma: np.float32) -> Latent:
        return np.zeros_like(x)

    for step in sampler(Unguided(nothing), x, sigmas, BasisNoise(count)):
        deviation = np.sqrt((step.x**2).sum())
        assert deviation == pytest.approx(sigmas[step.index + 1], rel=1e-12)
        assert step.x[step.index + 1] != 0


X, SIGMAS = FROZEN["comfy/deis"][0], FROZEN["comfy/deis/sigmas"]


@pytest.mark.parametrize(
    ("sampler", "plain"),
    [
        (euler_cfg_pp, euler),
        (ddim_cfg_pp, euler),
        (euler_ancestral_cfg_pp, euler_ancestral),
        (partial(euler_ancestral_cfg_pp, eta=0.5), partial(euler_ancestral, eta=0.5)),
        (partial(tcd, eta=0.0), euler),
        (partial(deis, order=1), euler),
        (ddpm, euler_ancestral),
        # Each step goes down to the picture, so the one before it tells nothing.
        (partial(res_multistep, eta=1e4), partial(euler_ancestral, eta=1e4)),
    ],
)
def test_a_sampler_with_neutral_options_equals_a_simpler_one(
    sampler: GuidedSampler, plain: Sampler
):
    """CFG++ without guidance, and others at an end of their options."""
    both = [
        list(method(Unguided(mixture_denoise), X, SIGMAS, RecordedNoise(FROZEN["noise"])))
        for method in (sampler, plain)
    ]
    for ours, expected in zip(*both, strict=True):
        np.testing.assert_allclose(ours.x, expected.x, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "sampler", [ddpm, deis, euler_cfg_pp, lcm, plms, res_multistep, tcd, unipc]
)
def test_float32_is_enough_from_a_level_of_pure_noise(sampler: Sampler | GuidedSampler):
    """With zero terminal SNR the first step falls from 4519 to 40."""
    sigmas = sigmas_for(ScheduleName.SGM_UNIFORM, 20, TRAINING.with_zero_terminal_snr())
    assert sigmas[0] > 4500
    noise = np.tile(FROZEN["noise"], (3, 1, 1, 1, 1))
    x = FROZEN["x"] * sigmas[0]
    double: Sigmas = sigmas.astype(np.float64)  # pyright: ignore[reportAssignmentType]
    single, exact = (
        list(sampler(PictureNetwork(), start, levels, RecordedNoise(noise)))[-1].x
        for start, levels in ((x, sigmas), (x.astype(np.float64), double))
    )
    np.testing.assert_allclose(single, exact, rtol=0, atol=1e-3)


def test_tcd_with_eta_1_renews_nearly_all_noise():
    """TCD jumps to the level of timestep 0, and adds noise as LCM does."""
    steps = list(tcd(mixture_denoise, X, SIGMAS, RecordedNoise(FROZEN["noise"]), eta=1.0))
    lowest = TRAINING.sigma_min
    for step, noise in zip(steps[:-1], FROZEN["noise"], strict=False):
        sigma_next = SIGMAS[step.index + 1]
        added = step.x - step.denoised - noise * np.sqrt(sigma_next**2 - lowest**2)
        assert np.abs(added).max() < 5 * lowest
    np.testing.assert_array_equal(steps[-1].x, steps[-1].denoised)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("lower_order_final", [True, False])
def test_unipc_manages_with_few_steps(steps: int, order: int, lower_order_final: bool):
    """Fewer than its order, which the tools refuse or make noise of."""
    sigmas = SIGMAS[-steps - 1 :]
    sampler = partial(unipc, order=order, lower_order_final=lower_order_final)
    x = FROZEN["x"] * sigmas[0]
    taken = list(sampler(mixture_denoise, x, sigmas, no_noise))
    assert len(taken) == steps
    np.testing.assert_array_equal(taken[-1].x, taken[-1].denoised)
    assert np.abs(taken[-1].x).max() < 2
