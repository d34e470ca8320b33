"""Image prompts in a denoiser: attention to pictures beside the attention to the text.

IP-Adapter (Ye et al. 2023, "decoupled cross-attention"): at each layer that attends to the text,
the same queries also attend to keys and values made of a picture, and the results are added. Keys
and values are inputs, so that one graph serves every adapter and picture with as many tokens.
"""

from collections.abc import Sequence

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Attended

# The strength of each image prompt at each layer, float32 [prompts, layers].
STRENGTHS = "image_prompt_strengths"


class AttendingLayer(msgspec.Struct, frozen=True):
    """A layer with attention to the text: its name, width, level and block.

    The `level` is 0 at the latent's own size and 1 more at each halving. The `block` is numbered as
    A1111's and ComfyUI's nodes number blocks with transformers: from 0 in the order they run.
    """

    name: str
    width: int
    level: int
    block: int


class ImagePromptShape(msgspec.Struct, frozen=True):
    """The number of tokens of an image prompt, and whether it has a mask."""

    tokens: int
    masked: bool = False


def keys_name(prompt: int, width: int) -> str:
    """Return the input with an image prompt's keys of the layers of a width."""
    return f"image_prompt_{prompt}_keys_{width}"


def values_name(prompt: int, width: int) -> str:
    """Return the input with an image prompt's values of the layers of a width."""
    return f"image_prompt_{prompt}_values_{width}"


def mask_name(prompt: int, level: int) -> str:
    """Return the input with an image prompt's mask at a level."""
    return f"image_prompt_{prompt}_mask_{level}"


def cells_name(level: int) -> str:
    """Return the dimension of masks at a level, its number of cells."""
    return f"cells_{level}"


class ImagePromptWriter:
    """Declares the inputs of image prompts, and hands each layer what it attends to.

    For each prompt and each width of layers, keys and values are float32 [layers of that width,
    contexts, tokens, width], in the order of `layers`. Strengths are float32 [prompts, layers]. A
    mask is float32 [1, cells of the level, 1], from 0 to 1.
    """

    def __init__(
        self,
        g: GraphBuilder,
        layers: Sequence[AttendingLayer],
        prompts: Sequence[ImagePromptShape],
    ) -> None:
        self._layers = {layer.name: layer for layer in layers}
        self._prompts = tuple(prompts)
        self._g = g
        # The keys, and the values times their strengths, by prompt and width.
        self._inputs: dict[tuple[int, int], tuple[Value, Value]] = {}
        self._places: dict[str, int] = {}
        if not prompts:
            return
        widths: dict[int, list[int]] = {}
        for number, layer in enumerate(layers):
            same = widths.setdefault(layer.width, [])
            self._places[layer.name] = len(same)
            same.append(number)
        g.input(STRENGTHS, DType.F32, (len(prompts), len(layers)))
        for prompt, shape in enumerate(prompts):
            for width, numbers in widths.items():
                self._inputs[prompt, width] = self._declared(prompt, shape, width, numbers)

    def at(self, name: str) -> tuple[Attended, ...]:
        """Return what the layer of this name attends to beside the text: nothing in others."""
        if not self._prompts or name not in self._layers:
            return ()
        layer, g = self._layers[name], self._g
        place = self._places[name]
        found: list[Attended] = []
        for prompt, shape in enumerate(self._prompts):
            tokens = g.integers([-1, shape.tokens, layer.width])
            keys, values = (
                g.op("Reshape", self._row(name, place), tokens)
                for name in self._inputs[prompt, layer.width]
            )
            mask = self._mask(prompt, layer.level) if shape.masked else ""
            found.append(Attended(keys, values, layer.width, mask))
        return tuple(found)

    def _declared(
        self, prompt: int, shape: ImagePromptShape, width: int, numbers: Sequence[int]
    ) -> tuple[Value, Value]:
        """Declare keys and values, and multiply the values by the strengths: they are few."""
        g, size = self._g, (len(numbers), "contexts", shape.tokens, width)
        keys = g.input(keys_name(prompt, width), DType.F32, size)
        values = g.input(values_name(prompt, width), DType.F32, size)
        own = g.op("Reshape", self._row(STRENGTHS, prompt), g.integers([-1, 1]))
        chosen = g.op("Gather", own, g.integers(numbers), axis=0)
        strengths = g.op("Reshape", chosen, g.integers([len(numbers), 1, 1, 1]))
        return g.cast_to_element(keys), g.cast_to_element(g.op("Mul", values, strengths))

    def _mask(self, prompt: int, level: int) -> Value:
        g = self._g
        mask = g.input_once(mask_name(prompt, level), DType.F32, (1, cells_name(level), 1))
        return g.cast_to_element(mask)

    def _row(self, x: Value, place: int) -> Value:
        """Emit one row of the first axis, which stays."""
        g = self._g
        return g.op("Slice", x, *(g.integers([n]) for n in (place, place + 1, 0)))
