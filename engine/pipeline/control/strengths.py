"""The weights of a control layer's residuals, and the prompts that it leads."""

from collections.abc import Sequence

from engine.api.control import ControlLayer, ControlMode
from engine.api.control_rules import ControlRules, FadeRule
from engine.api.preprocessors import PreprocessorName, name_of

# The base of sd-webui-controlnet's weights, and the exponent of the outermost residual.
_FADING, _DEEPEST = 0.825, 12
# Its weights of the images of a T2I-Adapter.
_ADAPTER_FADE = (0.25, 0.62, 0.825, 1.0)


def residual_weights(
    layer: ControlLayer,
    rules: ControlRules,
    residuals: int,
    *,
    means: bool,
    adapts: Sequence[int] | None,
    enlarged: bool = False,
) -> tuple[float, ...]:
    """Return the weight of each of a network's residuals, the outermost first, the middle's last.

    `means`: the residuals are means over the picture, which diffusers does not fade. `adapts`: the
    places of a T2I-Adapter's images (`image_places`), which they are; None for other networks.
    `enlarged`: the pass enlarges the picture.
    """
    fades = layer.mode is not ControlMode.BALANCED or (
        enlarged and rules.softens_enlarged_edges and _shows_edges(layer)
    )
    if not fades or (means and rules.fade is FadeRule.DECADE):
        return (layer.weight,) * residuals
    if adapts is not None and rules.fade is FadeRule.POWERS_BY_PLACE:
        return tuple(layer.weight * _FADING**place for place in adapts)
    if adapts is not None:
        return tuple(layer.weight * fade for fade in _ADAPTER_FADE)
    if rules.fade is not FadeRule.DECADE:
        # SDXL's ten residuals have the weights of the first ten of thirteen; a transformer may
        # have more of them.
        return tuple(layer.weight * _FADING ** max(_DEEPEST - i, 0) for i in range(residuals))
    return tuple(layer.weight * 10 ** (i / (residuals - 1) - 1) for i in range(residuals))


def _shows_edges(layer: ControlLayer) -> bool:
    """Tell whether a layer's map has Canny's edges."""
    made = layer.preprocessor
    return made is not None and name_of(made) is PreprocessorName.CANNY


def leads_negative(layer: ControlLayer, rules: ControlRules, *, means: bool) -> bool:
    """Tell whether a layer also acts on the prediction for the negative prompt."""
    return layer.mode is not ControlMode.CONTROL and (rules.means_lead_negative or not means)
