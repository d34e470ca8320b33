"""The steps and weights of control layers, beside what the tools' own loops gave."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.control import ControlLayer, ControlMode
from engine.api.control_rules import FORGE_CONTROL, ControlRules, FadeRule, RangeRule
from engine.api.evaluations import step_places
from engine.api.values import ConventionName, SamplerName
from engine.control.adapter_files import image_places
from engine.pipeline.control.acting import ActingSteps, StepCount
from engine.pipeline.control.strengths import leads_negative, residual_weights

USUAL = ControlRules()


def counted(steps: int, sampler: SamplerName = SamplerName.EULER) -> StepCount:
    return StepCount(steps, step_places(sampler, steps, ConventionName.DIFFUSERS))


def acting(rule: RangeRule, ends: tuple[float, float], count: StepCount) -> list[int]:
    """The evaluations at which a layer acts, at levels that fall evenly from 1 to 0."""
    last, steps = len(count.places), ActingSteps(rule, count, lambda share: 1 - share)
    return [i for i in range(last) if steps.acts(ends, i, 1 - i / max(last - 1, 1))]


@pytest.mark.parametrize(
    ("rule", "ends", "expected"),
    [
        # A step is counted when it is finished: at step 6 five of ten are, the fourth is number 4.
        (RangeRule.FINISHED, (0.0, 0.5), [0, 1, 2, 3, 4, 5, 6]),
        (RangeRule.FINISHED, (0.3, 1.0), [4, 5, 6, 7, 8, 9]),
        (RangeRule.WHOLE_STEPS, (0.0, 0.5), [0, 1, 2, 3, 4]),
        (RangeRule.WHOLE_STEPS, (0.25, 0.95), [3, 4, 5, 6, 7, 8]),
        (RangeRule.TOUCHED_STEPS, (0.0, 0.5), [0, 1, 2, 3, 4, 5]),
        (RangeRule.TOUCHED_STEPS, (0.25, 0.75), [2, 3, 4, 5, 6, 7, 8]),
        (RangeRule.LEVELS, (0.0, 0.5), [0, 1, 2, 3, 4]),
        (RangeRule.LEVELS, (0.25, 0.9), [3, 4, 5, 6, 7, 8]),
    ],
)
def test_a_range_is_the_tools(
    rule: RangeRule, ends: tuple[float, float], expected: list[int]
) -> None:
    assert acting(rule, ends, counted(10)) == expected


@pytest.mark.parametrize("sampler", sorted(set(SamplerName) - {SamplerName.DPM_ADAPTIVE}))
@pytest.mark.parametrize("rule", RangeRule)
def test_a_layer_of_the_whole_run_always_acts(rule: RangeRule, sampler: SamplerName) -> None:
    for steps in (1, 2, 10):
        count = counted(steps, sampler)
        assert acting(rule, (0.0, 1.0), count) == list(range(len(count.places)))


def test_weights_fade_outwards_where_the_prompt_matters_more() -> None:
    layer = ControlLayer(image="map.png", weight=2.0, mode=ControlMode.PROMPT)

    def weights(count: int, rules: ControlRules = USUAL) -> tuple[float, ...]:
        return residual_weights(layer, rules, count, means=False, adapts=None)

    powers = weights(13)
    assert powers == pytest.approx([2 * 0.825 ** (12 - i) for i in range(13)])
    assert weights(10) == pytest.approx(powers[:10])
    decade = residual_weights(
        layer, ControlRules(fade=FadeRule.DECADE), 13, means=False, adapts=None
    )
    assert decade[0] == pytest.approx(0.2)
    assert decade[-1] == pytest.approx(2.0)
    adapter = residual_weights(layer, ControlRules(), 4, means=False, adapts=image_places("sd1"))
    assert adapter == pytest.approx([0.5, 1.24, 1.65, 2.0])
    balanced = ControlLayer(image="map.png", weight=2.0)
    assert residual_weights(balanced, ControlRules(), 13, means=False, adapts=None) == (2.0,) * 13


def test_the_negative_prompt_is_led_unless_the_control_matters_more() -> None:
    balanced = ControlLayer(image="map.png")
    control = ControlLayer(image="map.png", mode=ControlMode.CONTROL)
    assert leads_negative(balanced, ControlRules(), means=False)
    assert not leads_negative(control, ControlRules(), means=False)
    assert not leads_negative(balanced, ControlRules(), means=True)
    assert leads_negative(balanced, ControlRules(means_lead_negative=True), means=True)


FORGE = np.load(Path(__file__).parent / "frozen" / "forge_controls.npz")


@pytest.mark.parametrize("case", FORGE.files)
def test_residuals_are_weighted_as_by_forge(case: str) -> None:
    name, kind, mode = case.split("/")
    layer = ControlLayer(image="map.png", weight=0.8, mode=ControlMode(mode))
    wanted: NDArray[np.float32] = FORGE[case]
    adapts = image_places(name) if kind == "adapter" else None
    own = residual_weights(layer, FORGE_CONTROL, wanted.shape[1], means=False, adapts=adapts)
    both = np.array([[1.0], [leads_negative(layer, FORGE_CONTROL, means=True)]])
    assert np.allclose(wanted, both * np.array(own), atol=1e-6)
