"""Rules by which tools run the same ControlNet with different results.

The arithmetic is in `engine.pipeline.control`.
"""

from enum import StrEnum

import msgspec


class RangeRule(StrEnum):
    """The steps in which a control layer acts that is to act within shares of a run."""

    # sd-webui-controlnet: the number of the last step that was finished, as a share of all, is
    # within the range, both ends included.
    FINISHED = "finished"
    # ComfyUI: the noise level is between those at these shares of the timesteps.
    LEVELS = "levels"
    # diffusers: all of the step is within the range.
    WHOLE_STEPS = "whole_steps"
    # InvokeAI: the step is between the first step and the last, rounded outwards.
    TOUCHED_STEPS = "touched_steps"


class FadeRule(StrEnum):
    """The weights of a network's residuals where the prompt is to matter more than the control."""

    # 0.825 to the power of 12, 11, 10 ... from the outermost inwards: sd-webui-controlnet.
    POWERS = "powers"
    # The same, and for the images of an adapter by the places of its blocks: Forge.
    POWERS_BY_PLACE = "powers_by_place"
    # From 0.1 to 1, evenly on a logarithmic scale: diffusers' "guess mode".
    DECADE = "decade"


class MapResampling(StrEnum):
    """The resampling of a map of another size than the picture's."""

    # sd-webui-controlnet: by what the map shows: few colours, two, or many.
    BY_CONTENT = "by_content"
    NEAREST = "nearest"  # the nearest pixel's centre, after the map is cropped: ComfyUI
    LANCZOS = "lanczos"  # diffusers


class ControlRules(msgspec.Struct, frozen=True):
    """The rules by which a tool runs ControlNets."""

    acting_steps: RangeRule = RangeRule.FINISHED
    fade: FadeRule = FadeRule.POWERS
    resampling: MapResampling = MapResampling.BY_CONTENT
    # True if a network whose residuals are means over the picture also leads the negative prompt.
    means_lead_negative: bool = False
    # True if a ControlNet of Flux.1 sees the prompt alone, also for the negative one's prediction.
    flux_follows_prompt_alone: bool = False
    # True if thin edges lead a pass that enlarges the picture as where the prompt matters more.
    softens_enlarged_edges: bool = True


# Those of A1111's ControlNets where Forge runs them itself, which acts by noise levels as ComfyUI.
FORGE_CONTROL = ControlRules(
    acting_steps=RangeRule.LEVELS, fade=FadeRule.POWERS_BY_PLACE, means_lead_negative=True
)
DIFFUSERS_CONTROL = ControlRules(
    acting_steps=RangeRule.WHOLE_STEPS,
    fade=FadeRule.DECADE,
    resampling=MapResampling.LANCZOS,
    softens_enlarged_edges=False,
    flux_follows_prompt_alone=True,
)
