"""The CLIP vision transformer (Radford et al. 2021, section 2.4), as Hugging Face names it."""

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.clip_text import Activation, Projection
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections

_COLOURS = 3


class ClipVisionConfig(msgspec.Struct, frozen=True):
    """Sizes of a CLIP vision transformer, which sees pictures of `side` x `side` pixels."""

    width: int
    mlp_width: int
    layers: int
    heads: int
    projected_width: int
    side: int = 224
    patch: int = 14
    activation: Activation = Activation.GELU
    projection: Projection = Projection.LINEAR
    epsilon: float = 1e-5

    @property
    def tokens(self) -> int:
        """The number of patches, and one for the whole picture."""
        return (self.side // self.patch) ** 2 + 1


def clip_vision(g: GraphBuilder, config: ClipVisionConfig, *, states: bool) -> None:
    """Emit the network: normalised pixels float32 [batch, 3, side, side] to what it sees.

    With `states` the output is `states`, float32 [batch, tokens, width], those after all layers but
    the last (transformers' `hidden_states[-2]`). Else it is `embedding`, float32 [batch,
    projected_width], the projected state of the token for the whole picture (`image_embeds`).
    """
    side = config.side
    pixels = g.input("pixels", DType.F32, ("batch", _COLOURS, side, side))
    x = _embedded(g, g.cast_to_element(pixels), config)
    x = g.layer_norm(x, "vision_model.pre_layrnorm", config.width, config.epsilon)
    for layer in range(config.layers - states):
        x = _layer(g, x, config, layer)
    if states:
        g.output(x, "states", DType.F32, ("batch", config.tokens, config.width))
        return
    first = g.op("Slice", x, g.integers([0]), g.integers([1]), g.integers([1]))
    whole = g.op("Reshape", first, g.integers([-1, config.width]))
    whole = g.layer_norm(whole, "vision_model.post_layernorm", config.width, config.epsilon)
    g.output(
        _projected(g, whole, config), "embedding", DType.F32, ("batch", config.projected_width)
    )


def _embedded(g: GraphBuilder, pixels: Value, config: ClipVisionConfig) -> Value:
    """Emit the embedded patches after the token for the whole picture, [batch, tokens, width]."""
    width, patch, name = config.width, config.patch, "vision_model.embeddings"
    kernel = g.weight(f"{name}.patch_embedding.weight", (width, _COLOURS, patch, patch))
    window = {"kernel_shape": (patch, patch), "strides": (patch, patch), "pads": (0, 0, 0, 0)}
    planes = g.op("Conv", pixels, kernel, domain="", **window)
    flat = g.op("Reshape", planes, g.integers([0, width, -1]))
    patches = g.op("Transpose", flat, perm=[0, 2, 1])
    whole = g.weight_as(f"{name}.class_embedding", (width,), (1, 1, width), "token")
    batch = g.op("Shape", pixels, start=0, end=1)
    first = g.repeat_batch(whole, 3, batch)
    places = g.weight(f"{name}.position_embedding.weight", (config.tokens, width))
    return g.op("Add", g.op("Concat", first, patches, axis=1), places)


def _layer(g: GraphBuilder, x: Value, config: ClipVisionConfig, layer: int) -> Value:
    """Emit a pre-norm transformer layer."""
    name, width = f"vision_model.encoder.layers.{layer}", config.width
    attn = f"{name}.self_attn"
    h = g.layer_norm(x, f"{name}.layer_norm1", width, config.epsilon)
    names = (f"{attn}.q_proj", f"{attn}.k_proj", f"{attn}.v_proj")
    mixed = g.attend(h, h, Projections(names, width, width, config.heads))
    x = g.add(x, g.linear(mixed, f"{attn}.out_proj", (width, width)))
    h = g.layer_norm(x, f"{name}.layer_norm2", width, config.epsilon)
    h = g.linear(h, f"{name}.mlp.fc1", (width, config.mlp_width))
    h = g.quick_gelu(h) if config.activation is Activation.QUICK_GELU else g.gelu(h)
    return g.add(x, g.linear(h, f"{name}.mlp.fc2", (config.mlp_width, width)))


def _projected(g: GraphBuilder, whole: Value, config: ClipVisionConfig) -> Value:
    sizes = (config.width, config.projected_width)
    if config.projection is Projection.LINEAR:
        return g.linear(whole, "visual_projection", sizes, bias=False)
    return g.op("MatMul", whole, g.weight("visual_projection", sizes))
