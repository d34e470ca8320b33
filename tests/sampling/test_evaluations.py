"""The evaluations that time is reckoned with are those that samplers and guidance make."""

import msgspec
import numpy as np
import pytest

from engine.api.evaluations import GuidedSampling, run_evaluations, steps_within
from engine.api.features import ConcatChannels, Features, GuidanceKind
from engine.api.request import GuidanceOptions
from engine.api.values import ConventionName, SamplerName
from engine.sampling.samplers import SAMPLERS
from engine.sampling.types import Latent
from tests.sampling.toy import SHAPE, Unguided, mixture_denoise

EDITING = Features(concat_channels=ConcatChannels.PICTURE)
DISTILLED = Features(guidance=(GuidanceKind.EMBEDDED,))
PLAIN = GuidanceOptions()


def made(name: SamplerName, steps: int) -> int:
    """The evaluations of a run over so many steps."""
    levels = np.append(np.geomspace(14, 0.03, steps), 0).astype(np.float32)
    calls = 0

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        nonlocal calls
        calls += 1
        return mixture_denoise(x, sigma)

    def noise(sigma: np.float32, sigma_next: np.float32) -> Latent:
        return np.zeros(SHAPE, np.float32)

    x = np.ones(SHAPE, np.float32)
    list(SAMPLERS[name].function(Unguided(denoise), x, levels, noise))
    return calls


@pytest.mark.parametrize("steps", [2, 9, 24, 40])
@pytest.mark.parametrize("name", sorted(set(SamplerName) - {SamplerName.DPM_ADAPTIVE}))
def test_the_evaluations_of_a_run_are_those_of_its_sampler(name: SamplerName, steps: int) -> None:
    assert run_evaluations(name, steps, ConventionName.DIFFUSERS) == made(name, steps)


def test_steps_change_nothing_for_a_sampler_that_takes_as_many_as_it_needs() -> None:
    counts = {run_evaluations(SamplerName.DPM_ADAPTIVE, n, ConventionName.A1111) for n in (5, 50)}
    assert len(counts) == 1
    assert made(SamplerName.DPM_ADAPTIVE, 5) == made(SamplerName.DPM_ADAPTIVE, 50)


@pytest.mark.parametrize("name", SamplerName)
def test_a_run_without_steps_evaluates_nothing(name: SamplerName) -> None:
    assert run_evaluations(name, 0, ConventionName.A1111) == 0


def test_a_step_belongs_to_a_part_in_which_it_begins() -> None:
    assert list(steps_within((0.0, 0.5), 5)) == [0, 1, 2]
    assert list(steps_within((0.5, 1.0), 5)) == [3, 4]
    assert list(steps_within((0.0, 1.0), 5)) == [0, 1, 2, 3, 4]


def sampling(
    guidance: float = 7.0,
    options: GuidanceOptions = PLAIN,
    features: Features = Features(),  # noqa: B008 (frozen)
    tool: ConventionName = ConventionName.A1111,
    sampler: SamplerName = SamplerName.EULER,
) -> GuidedSampling:
    return GuidedSampling(sampler, guidance, options, tool, features)


def each(sampling: GuidedSampling, positives: int = 1) -> float:
    """The predictions in an evaluation of a run of ten steps."""
    return sampling.terms.predictions_per_evaluation(sampling.options, 10, positives)


def mean(guidance: float = 7.0, **changes: object) -> float:
    return each(sampling(guidance, msgspec.structs.replace(PLAIN, **changes)))


def test_guidance_takes_a_second_prediction_where_it_acts() -> None:
    assert mean() == 2
    assert mean(guidance=1.0) == 1
    assert mean(range=(0.0, 0.5)) == 1.5
    assert mean(range=(0.25, 0.75)) == 1.5
    assert each(sampling(), positives=3) == 4


@pytest.mark.parametrize("name", SamplerName)
def test_the_negative_is_predicted_without_guidance_for_samplers_that_use_it(
    name: SamplerName,
) -> None:
    used = sampling(1.0, sampler=name)
    assert used.terms.is_guided == name.label.endswith("CFG++")
    assert each(used) == 1 + used.terms.is_guided


def test_guidance_by_attention_takes_more() -> None:
    assert mean(pag_scale=3.0) == 3
    assert mean(pag_scale=3.0, pag_range=(0.0, 0.5)) == 2.5
    assert mean(sag_scale=1.0) == 3
    # The picture under the negative prompt is degraded, but in diffusers.
    degrading = GuidanceOptions(sag_scale=1.0)
    assert each(sampling(1.0, degrading)) == 3
    assert each(sampling(1.0, degrading, tool=ConventionName.DIFFUSERS)) == 2


def test_a_distilled_denoiser_is_asked_once_whatever_its_guidance() -> None:
    assert each(sampling(3.5, features=DISTILLED)) == 1
    both = Features(guidance=(GuidanceKind.EMBEDDED, GuidanceKind.CFG))
    assert each(sampling(3.5, features=both)) == 1
    assert each(sampling(3.5, GuidanceOptions(true_cfg=2.0), both)) == 2


def test_an_edit_is_also_asked_without_its_picture() -> None:
    assert each(sampling(features=EDITING)) == 3
    assert sampling(features=EDITING).terms.image == 1.5
    assert each(sampling(options=GuidanceOptions(image_guidance=1.0), features=EDITING)) == 2
    # diffusers then switches off guidance altogether.
    assert each(sampling(1.0, features=EDITING, tool=ConventionName.DIFFUSERS)) == 1


def test_a_run_predicts_in_each_of_its_evaluations() -> None:
    heun = sampling(sampler=SamplerName.HEUN)
    assert heun.predictions(10) == 2 * 19
    assert heun.predictions(10, positives=3) == 4 * 19
    assert heun.predictions(0) == 0


def test_a_part_of_a_run_predicts_at_least_once() -> None:
    assert sampling().predictions(10, share=0.75) == 2 * 8
    assert sampling().predictions(10, share=0.0) == 2
    assert sampling().predictions(0, share=0.0) == 0
