"""A UNet whose self-attentions also attend to what another run of it gave them: "reference only".

sd-webui-controlnet's preprocessor of that name runs the denoiser on the noised reference picture
and keeps the inputs of all self-attentions; the run that makes the picture attends to its own
tokens and to these. Nothing of Safelight uses it: it is here to be measured.
"""

from dataclasses import replace
from functools import partial

from backends.base import DType
from engine.compile.network import Network
from engine.families import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import config_of
from engine.graphs.builder import Value
from engine.graphs.image_prompts import ImagePromptWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetConfig, UNetWriter, attending_layers, self_attention_layers
from engine.graphs.unet_changes import NO_CHANGES
from engine.graphs.unet_encoder import EncoderInputs, UNetBlock, encoder_inputs

# The inputs and outputs of the layers, before their numbers.
KEPT, SEEN = "kept", "seen"


class _ReferenceUNet(UNetWriter):
    """Emits the whole network; its self-attentions are written out, take in others, or both."""

    def __init__(
        self,
        g: GraphBuilder,
        config: UNetConfig,
        inputs: EncoderInputs,
        *,
        writes: bool,
        reads: bool,
    ) -> None:
        pictures = ImagePromptWriter(g, attending_layers(config), ())
        super().__init__(g, config, inputs, NO_CHANGES, True, pictures)
        self._writes, self._reads = writes, reads
        self._numbers = {name: i for i, name in enumerate(self_attention_layers(config))}

    def self_attention(self, x: Value, name: str, block: UNetBlock) -> Value:
        """Emit self-attention over the layer's own tokens and those of the other run."""
        g, number = self.g, self._numbers[name]
        rows = "contexts" if self.per_context else "batch"
        if self._writes:
            g.output(x, f"{SEEN}.{number}", DType.F32, (rows, f"cells_{number}", block.width))
        if not self._reads:
            return super().self_attention(x, name, block)
        shape = (rows, f"kept_{number}", block.width)
        kept = g.cast_to_element(g.input(f"{KEPT}.{number}", DType.F32, shape))
        return self._attention(x, g.op("Concat", x, kept, axis=1), block.width, name, block)


def reference_unet(g: GraphBuilder, config: UNetConfig, *, writes: bool, reads: bool) -> None:
    """Emit one evaluation as `engine.graphs.unet.unet` does, for sides that halve evenly.

    With `reads` there are inputs kept.0, kept.1, ... and with `writes` outputs seen.0, seen.1, ...,
    float32 [contexts, tokens, width], for the self-attentions in the order they run. The first may
    come before all text; it then has one row for each picture.
    """
    inputs = encoder_inputs(g, config)
    x = _ReferenceUNet(g, config, inputs, writes=writes, reads=reads).run(inputs.sample)
    sides = ("height", "width")
    g.output(g.to_planes(x), "prediction", DType.F32, ("contexts", config.out_channels, *sides))


def reference_network(
    checkpoint: IdentifiedCheckpoint, side: int, *, writes: bool, reads: bool
) -> Network:
    """Return a checkpoint's denoiser for square pictures of `side` pixels, in one of the forms."""
    config = config_of(checkpoint, Component.DENOISER, UNetConfig)
    plain = checkpoint.architecture.denoiser.network(side, side)
    emit = partial(reference_unet, config=config, writes=writes, reads=reads)
    return replace(plain, emit=emit)
