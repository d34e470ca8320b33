"""The steps and weights of control layers, beside what the tools' own loops gave."""

import pytest

from engine.api.control import ControlLayer, ControlMode
from engine.api.control_rules import ControlRules, FadeRule, RangeRule
from engine.pipeline.control.strengths import (
    StepCount,
    acts_at,
    leads_negative,
    residual_weights,
)

USUAL = ControlRules()


def acting(rule: RangeRule, ends: tuple[float, float], count: StepCount) -> list[int]:
    """The evaluations at which a layer acts, at evenly spaced timesteps."""
    last = count.all_evaluations
    return [i for i in range(last) if acts_at(ends, rule, count, i, 999 * (1 - i / (last - 1)))]


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
    assert acting(rule, ends, StepCount(10, 1)) == expected


def test_a_layer_of_the_whole_run_always_acts() -> None:
    for rule in RangeRule:
        for count in (StepCount(10, 1), StepCount(10, 2), StepCount(1, 1)):
            assert len(acting(rule, (0.0, 1.0), StepCount(10, 2))) == 19
            assert acts_at((0.0, 1.0), rule, count, 0, 999.0)


def test_the_second_evaluation_of_a_step_counts_the_step_as_finished() -> None:
    assert acting(RangeRule.FINISHED, (0.0, 0.1), StepCount(10, 2)) == [0, 1, 2, 3, 4]


def test_weights_fade_outwards_where_the_prompt_matters_more() -> None:
    layer = ControlLayer(image="map.png", weight=2.0, mode=ControlMode.PROMPT)

    def weights(count: int, rules: ControlRules = USUAL) -> tuple[float, ...]:
        return residual_weights(layer, rules, count, means=False, adapts=False)

    powers = weights(13)
    assert powers == pytest.approx([2 * 0.825 ** (12 - i) for i in range(13)])
    assert weights(10) == pytest.approx(powers[:10])
    decade = residual_weights(
        layer, ControlRules(fade=FadeRule.DECADE), 13, means=False, adapts=False
    )
    assert decade[0] == pytest.approx(0.2)
    assert decade[-1] == pytest.approx(2.0)
    adapter = residual_weights(layer, ControlRules(), 4, means=False, adapts=True)
    assert adapter == pytest.approx([0.5, 1.24, 1.65, 2.0])
    balanced = ControlLayer(image="map.png", weight=2.0)
    assert residual_weights(balanced, ControlRules(), 13, means=False, adapts=False) == (2.0,) * 13


def test_the_negative_prompt_is_led_unless_the_control_matters_more() -> None:
    balanced = ControlLayer(image="map.png")
    control = ControlLayer(image="map.png", mode=ControlMode.CONTROL)
    assert leads_negative(balanced, ControlRules(), means=False)
    assert not leads_negative(control, ControlRules(), means=False)
    assert not leads_negative(balanced, ControlRules(), means=True)
    assert leads_negative(balanced, ControlRules(means_lead_negative=True), means=True)
