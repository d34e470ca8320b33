"""Every schedule value by value against what the tools' own code made, frozen.

`freeze_a1111.py` and `freeze_comfy.py` ran modules/sd_schedulers.py and comfy/samplers.py.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.api.conventions import RedrawSteps
from engine.api.request import ScheduleOptions
from engine.api.values import ConventionName, ScheduleName
from engine.sampling.schedules import (
    AlignedFor,
    NoiseSchedule,
    ScheduleChoice,
    a1111_timestep_levels,
    a1111_unipc_levels,
    redraw_sigmas,
    sigmas_for,
)
from tests.sampling.cases import (
    LEVELS,
    SCHEDULE_OPTIONS,
    STEP_COUNTS,
    STRENGTHS,
    TIMESTEP_STEPS,
)

FOLDER = Path(__file__).parent / "frozen"
FROZEN = {
    ConventionName.A1111: np.load(FOLDER / "a1111_schedules.npz"),
    ConventionName.COMFY: np.load(FOLDER / "comfy_schedules.npz"),
}
A1111, COMFY = FROZEN[ConventionName.A1111], FROZEN[ConventionName.COMFY]
TRAINING = {name: NoiseSchedule.scaled_linear(convention=name) for name in FROZEN}


@dataclass(frozen=True, slots=True)
class Reference:
    """A row of the table: whose function a schedule is compared with, and how closely."""

    schedule: ScheduleName
    tool: ConventionName
    function: str
    # The largest relative difference of a level.
    tolerance: float
    aligned_for: AlignedFor = AlignedFor.SD1


# Measured differences are at most a half of the tolerance. Levels that are picked from those of
# training differ by the rounding of a root; where NumPy's exp, log, tan or power and torch's differ
# in the last bit, by that. A1111's arc tangents are float32, and tan multiplies their error by 15.
_A1111, _COMFY = ConventionName.A1111, ConventionName.COMFY
TABLE = (
    Reference(ScheduleName.NORMAL, _A1111, "normal_scheduler", 6e-7),
    Reference(ScheduleName.KARRAS, _A1111, "get_sigmas_karras", 3e-7),
    Reference(ScheduleName.SIMPLE, _A1111, "simple_scheduler", 3e-7),
    Reference(ScheduleName.SGM_UNIFORM, _A1111, "sgm_uniform", 4e-7),
    Reference(ScheduleName.BETA, _A1111, "beta_scheduler", 2e-7),
    Reference(ScheduleName.EXPONENTIAL, _A1111, "get_sigmas_exponential", 4e-7),
    Reference(ScheduleName.POLYEXPONENTIAL, _A1111, "get_sigmas_polyexponential", 3e-7),
    Reference(ScheduleName.KL_OPTIMAL, _A1111, "kl_optimal", 4e-6),
    Reference(ScheduleName.ALIGN_YOUR_STEPS, _A1111, "get_align_your_steps_sigmas", 1e-7),
    Reference(
        ScheduleName.ALIGN_YOUR_STEPS, _A1111, "get_align_your_steps_sigmas", 1e-7, AlignedFor.SDXL
    ),
    Reference(ScheduleName.UNIFORM, _A1111, "DiscreteSchedule.get_sigmas", 6e-7),
    Reference(ScheduleName.DDIM, _A1111, "ddim_scheduler", 3e-7),
    Reference(ScheduleName.NORMAL, _COMFY, "normal_scheduler", 6e-7),
    Reference(ScheduleName.KARRAS, _COMFY, "get_sigmas_karras", 3e-7),
    Reference(ScheduleName.SIMPLE, _COMFY, "simple_scheduler", 3e-7),
    Reference(ScheduleName.SGM_UNIFORM, _COMFY, "normal_scheduler(sgm=True)", 3e-7),
    Reference(ScheduleName.BETA, _COMFY, "beta_scheduler", 2e-7),
    Reference(ScheduleName.EXPONENTIAL, _COMFY, "get_sigmas_exponential", 4e-7),
    Reference(ScheduleName.KL_OPTIMAL, _COMFY, "kl_optimal_scheduler", 3e-7),
    Reference(ScheduleName.ALIGN_YOUR_STEPS, _COMFY, "AlignYourStepsScheduler", 1e-7),
    Reference(
        ScheduleName.ALIGN_YOUR_STEPS, _COMFY, "AlignYourStepsScheduler", 1e-7, AlignedFor.SDXL
    ),
    Reference(ScheduleName.DDIM, _COMFY, "ddim_scheduler", 3e-7),
    Reference(ScheduleName.LINEAR_QUADRATIC, _COMFY, "linear_quadratic_schedule", 1e-7),
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.tool}-{row.function}")
def test_schedules_equal_the_tools(row: Reference):
    key = f"{row.schedule}_sdxl" if row.aligned_for is AlignedFor.SDXL else row.schedule
    choice = ScheduleChoice(
        row.schedule, TRAINING[row.tool], convention=row.tool, aligned_for=row.aligned_for
    )
    undefined = (row.schedule, row.tool) == (ScheduleName.KL_OPTIMAL, _COMFY)  # for one step
    for steps in STEP_COUNTS[undefined:]:
        sigmas = choice.sigmas(steps)
        assert sigmas.dtype == np.float32
        np.testing.assert_allclose(sigmas, FROZEN[row.tool][f"{key}/{steps}"], rtol=row.tolerance)


def test_the_table_has_every_schedule_of_the_tools():
    for tool, frozen in FROZEN.items():
        names = {row.schedule for row in TABLE if row.tool is tool}
        assert names == {name for name in ScheduleName if f"{name}/20" in frozen}
    assert {row.schedule for row in TABLE} == set(ScheduleName)


@pytest.mark.parametrize(("name", "changed"), SCHEDULE_OPTIONS)
def test_options_act_as_in_a1111(name: str, changed: dict[str, float]):
    key = "/".join(["options", name, *(f"{k}={v}" for k, v in changed.items())])
    options = ScheduleOptions(**changed)
    sigmas = sigmas_for(ScheduleName(name), 20, TRAINING[ConventionName.A1111], options)
    np.testing.assert_allclose(sigmas, A1111[key], rtol=3e-6)


@pytest.mark.parametrize("tool", FROZEN)
def test_the_next_to_last_level_is_left_out_of_a_longer_schedule(tool: ConventionName):
    choice = ScheduleChoice(
        ScheduleName.KARRAS, TRAINING[tool], convention=tool, discards_next_to_last=True
    )
    np.testing.assert_allclose(choice.sigmas(20), FROZEN[tool]["discarded/karras"], rtol=2e-6)


@pytest.mark.parametrize("steps", TIMESTEP_STEPS)
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", [ScheduleName.KARRAS, ScheduleName.DDIM, ScheduleName.KL_OPTIMAL])
def test_redrawing_visits_the_levels_of_a1111(name: ScheduleName, strength: float, steps: int):
    choice = ScheduleChoice(name, TRAINING[ConventionName.A1111])
    levels = redraw_sigmas(choice, steps, strength, RedrawSteps.A1111)
    expected = A1111[f"redrawn/{name}/{steps}/{strength}"]
    np.testing.assert_allclose(levels.taken, expected, rtol=3e-6)
    np.testing.assert_array_equal(levels.whole, choice.sigmas(steps))


@pytest.mark.parametrize("steps", TIMESTEP_STEPS[:3])
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    "name", [ScheduleName.KARRAS, ScheduleName.SIMPLE, ScheduleName.DDIM, ScheduleName.BETA]
)
def test_redrawing_visits_the_levels_of_comfyui(name: ScheduleName, strength: float, steps: int):
    tool = ConventionName.COMFY
    choice = ScheduleChoice(name, TRAINING[tool], convention=tool)
    expected = COMFY[f"redrawn/{name}/{steps}/{strength}"]
    levels = redraw_sigmas(choice, steps, strength, RedrawSteps.COMFY)
    if strength == 0:  # ComfyUI has no levels then, and returns the picture
        assert expected.size == 0
        assert levels.taken.tolist() == [0]
    else:
        np.testing.assert_allclose(levels.taken, expected, rtol=2e-6)


@pytest.mark.parametrize("strength", [None, *STRENGTHS])
@pytest.mark.parametrize("steps", TIMESTEP_STEPS)
def test_samplers_by_timestep_visit_the_levels_of_a1111(steps: int, strength: float | None):
    key = f"{steps}" if strength is None else f"{steps}/{strength}"
    training = TRAINING[ConventionName.A1111]
    levels = a1111_timestep_levels(steps, training, strength)
    timesteps = A1111[f"timesteps/{key}"]
    if len(timesteps) == 0:  # no step is taken, not even between two levels
        assert len(levels.sigmas) == 1
    else:
        expected = training.sigmas[timesteps][::-1]
        doubled = expected[:1] == expected[1:2]
        np.testing.assert_array_equal(levels.sigmas, expected[1:] if doubled.any() else expected)


# A1111 runs it for at least as many steps as its order.
UNIPC_KEYS = [key for key in A1111.files if key.startswith("unipc/")]


@pytest.mark.parametrize("key", UNIPC_KEYS)
def test_unipc_visits_the_timesteps_of_a1111(key: str):
    _, steps, *strength = key.split("/")
    training = TRAINING[ConventionName.A1111]
    levels = a1111_unipc_levels(int(steps), training, float(strength[0]) if strength else None)
    ours = [training.sigma_to_timestep(sigma) for sigma in levels.sigmas]
    # Ours are linear in log sigma between whole timesteps, UniPC's in the picture's share.
    np.testing.assert_allclose(ours, A1111[key], rtol=0, atol=5e-3)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("steps", TIMESTEP_STEPS)
def test_a_redrawn_picture_is_noised_as_in_a1111(steps: int, strength: float):
    """There latents are of unit variance: ours divided by sqrt(1 + sigma^2) of the first level."""
    levels = a1111_timestep_levels(steps, TRAINING[ConventionName.A1111], strength)
    picture = np.ones((1, 1, 1, 1), np.float32)
    start = levels.start(picture * 2, picture)
    ours = start / np.sqrt(1 + levels.sigmas[0] ** 2)
    assert start.dtype == np.float32
    np.testing.assert_allclose(ours.ravel(), A1111[f"noised/{steps}/{strength}"], rtol=5e-7)


def test_pure_noise_starts_and_pictures_end_with_unit_variance():
    levels = a1111_timestep_levels(20, TRAINING[ConventionName.A1111])
    noise = np.full((1, 1, 1, 1), 2, np.float32)
    start = levels.start(noise, None)
    np.testing.assert_allclose(start / np.sqrt(1 + levels.sigmas[0] ** 2), noise, rtol=2e-7)
    end = levels.finish(np.full((1, 1, 1, 1), 2 * np.sqrt(1 + levels.sigmas[-1] ** 2)))
    np.testing.assert_allclose(end, noise, rtol=2e-7)


@pytest.mark.parametrize("tool", FROZEN)
def test_the_levels_of_training_equal_the_tools(tool: ConventionName):
    np.testing.assert_allclose(TRAINING[tool].sigmas, FROZEN[tool]["training"], rtol=2e-7)


def test_comfyuis_timesteps_are_whole():
    training = TRAINING[ConventionName.COMFY]
    ours = [training.sigma_to_timestep(np.float32(level)) for level in LEVELS]
    assert ours == COMFY["timesteps"].tolist()
    np.testing.assert_allclose(training.log_sigmas, COMFY["training/logs"], rtol=3e-7)


def test_levels_with_zero_terminal_snr_equal_a1111s():
    """The last level stays 4518; those before it follow from products that almost cancel."""
    stretched = TRAINING[ConventionName.A1111].with_zero_terminal_snr()
    np.testing.assert_allclose(stretched.alphas, A1111["zero_terminal/alphas"], rtol=1e-5)
    np.testing.assert_allclose(
        stretched.alphas[:900], A1111["zero_terminal/alphas"][:900], rtol=1e-6
    )
    assert stretched.sigma_max == pytest.approx(4518.7, rel=1e-4)
    assert stretched.sigma_min == TRAINING[ConventionName.A1111].sigma_min


def test_levels_with_zero_terminal_snr_equal_comfyuis():
    stretched = TRAINING[ConventionName.COMFY].with_zero_terminal_snr()
    np.testing.assert_allclose(stretched.sigmas, COMFY["zero_terminal/training"], rtol=2e-7)
