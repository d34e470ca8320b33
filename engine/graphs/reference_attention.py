"""Self-attention that also attends to another run of the network: sd-webui-controlnet's reference.

Its preprocessor "reference_only" (`scripts/hook.py`) runs the denoiser on the noised reference
picture, keeps the inputs of self-attentions, and lets the run that makes the picture attend to its
own tokens and to these. One graph writes them as outputs, another reads them as inputs. Keys and
values are concatenated before the attention, so that it stays fused.
"""

from collections.abc import Sequence

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.operators import GraphBuilder

# Outputs of the graph that writes and inputs of the graph that reads, before the layers' numbers.
SEEN, KEPT = "seen", "kept"
# The share of each row's attention to its own tokens alone, float32 [contexts, 1, 1].
ALONE = "attends_alone"


class ReferenceForm(msgspec.Struct, frozen=True):
    """The self-attention layers that attend to a reference, by name in the order they run.

    `writes`: the graph is that of the reference's own run, which shows what the layers are given.
    """

    layers: tuple[str, ...]
    writes: bool = False


def reference_layers(
    layers: Sequence[str], attending: Sequence[AttendingLayer], weight: float
) -> tuple[str, ...]:
    """Return the self-attention layers that attend to a reference of this weight.

    `layers` are all of them in the order they run. The weight is the share of the layers that do:
    the widest first, and of equal ones those that run first (`UnetHook.hook`, `attn_weight`).
    """
    widths = {layer.name.replace(".attn2", ".attn1"): layer.width for layer in attending}
    widest = sorted(layers, key=lambda name: -widths[name])
    chosen = {name for place, name in enumerate(widest) if weight > place / len(widest)}
    return tuple(name for name in layers if name in chosen)


class ReferenceWriter:
    """Declares what layers give another run, or take from it.

    Both are float32 [contexts, width, height / 2^level, width / 2^level], so that sizes follow from
    the sample's. What is taken is optional: it is of no matter where all rows attend alone.
    """

    def __init__(
        self,
        g: GraphBuilder,
        form: ReferenceForm | None,
        attending: Sequence[AttendingLayer],
    ) -> None:
        self._g, self._layers = g, form.layers if form else ()
        self._writes = form is not None and form.writes
        self._attending = {layer.name.replace(".attn2", ".attn1"): layer for layer in attending}
        self._shares: tuple[Value, Value] | None = None

    @property
    def acts(self) -> bool:
        """True if a layer writes or reads.

        The contexts that read differ from the first self-attention on, before all text.
        """
        return bool(self._layers)

    def writes_at(self, layer: str) -> bool:
        """Return True if what this layer is given is shown."""
        return self._writes and layer in self._layers

    def reads_at(self, layer: str) -> bool:
        """Return True if this layer attends to the reference."""
        return not self._writes and layer in self._layers

    def show(self, layer: str, image: Value) -> None:
        """Declare the output of a layer's tokens, as an image with one row per context."""
        name = f"{SEEN}.{self._layers.index(layer)}"
        self._g.output(self._g.to_planes(image), name, DType.F32, self._shape(layer))

    def joined(self, layer: str, x: Value) -> Value:
        """Return a layer's tokens, [contexts, tokens, width], followed by the reference's."""
        g, name = self._g, f"{KEPT}.{self._layers.index(layer)}"
        given = g.input(name, DType.F32, self._shape(layer), optional=True)
        image = g.from_planes(g.cast_to_element(given))
        return g.op("Concat", x, g.to_tokens(image, self._attending[layer].width), axis=1)

    def mixed(self, alone: Value, joined: Value) -> Value:
        """Return the attention of each row: that to its own tokens alone, to both, or between."""
        g = self._g
        if self._shares is None:
            own = g.cast_to_element(g.input(ALONE, DType.F32, ("contexts", 1, 1)))
            self._shares = own, g.op("Sub", g.constant(1.0), own)
        own, other = self._shares
        return g.op("Add", g.op("Mul", alone, own), g.op("Mul", joined, other))

    def _shape(self, layer: str) -> tuple[int | str, ...]:
        attending = self._attending[layer]
        part = f"/{1 << attending.level}" if attending.level else ""
        return "contexts", attending.width, f"height{part}", f"width{part}"
