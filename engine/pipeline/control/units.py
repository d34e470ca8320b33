"""Control layers that one network serves: one each, or all maps of a union in one evaluation.

diffusers' pipelines of unions (`StableDiffusionXLControlNetUnionPipeline`) give a union all of its
maps at once, each with its weight: their embeddings are added, and the network is told all of their
kinds. ComfyUI, sd-webui-controlnet and InvokeAI evaluate a union once for each of its layers and
add the residuals, which gives other numbers.
"""

from collections.abc import Sequence

import msgspec

from engine.api.control import ControlMode
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName
from engine.pipeline.control.layers import ReadLayer


class ControlUnit(msgspec.Struct, frozen=True, eq=False):
    """The layers that one evaluation of a network serves, in their order."""

    layers: tuple[ReadLayer, ...]

    @property
    def leader(self) -> ReadLayer:
        """The layer whose range, mode, mask and weight are those of the residuals.

        With several maps its weight is 1, for theirs act within the network.
        """
        first = self.layers[0]
        if len(self.layers) == 1:
            return first
        return msgspec.structs.replace(
            first, layer=msgspec.structs.replace(first.layer, weight=1.0)
        )

    @property
    def kinds(self) -> list[ControlKind]:
        """The kind of each map, as far as it is known."""
        return [layer.kind for layer in self.layers if layer.kind is not None]

    @property
    def weights(self) -> list[float]:
        """The weight of each map."""
        return [layer.layer.weight for layer in self.layers]


def units_of(layers: Sequence[ReadLayer], tool: ConventionName) -> tuple[ControlUnit, ...]:
    """Return layers in units, in the order of their first layers, by the rules of a tool."""
    together: dict[object, list[ReadLayer]] = {}
    for place, layer in enumerate(layers):
        joins = tool is ConventionName.DIFFUSERS and _joins(layer)
        key = (layer.network.digest, layer.layer.range) if joins else place
        together.setdefault(key, []).append(layer)
    return tuple(ControlUnit(tuple(alike)) for alike in together.values())


def _joins(layer: ReadLayer) -> bool:
    """Tell whether a union may see the layer's map together with others."""
    wanted = layer.layer
    return (
        layer.network.joins_maps
        and layer.kind is not None
        and wanted.mode is ControlMode.BALANCED
        and wanted.weight != 0
        and (layer.mask is None or layer.paints)
    )
