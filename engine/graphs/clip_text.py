"""The CLIP text transformer (Radford et al. 2021, section 2.4), as Hugging Face names it."""

from enum import StrEnum

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections

# The vectors of tokens, of which a run looks up a few.
TOKEN_TABLE = "text_model.embeddings.token_embedding.weight"


class Activation(StrEnum):
    """The MLP's nonlinearity."""

    QUICK_GELU = "quick_gelu"  # x * sigmoid(1.702 x), OpenAI's CLIP
    GELU = "gelu"


class Projection(StrEnum):
    """The layout in which the projection of the pooled text is stored."""

    LINEAR = "linear"  # text_projection.weight [projected, width], as Hugging Face has it
    MATRIX = "matrix"  # text_projection [width, projected], as OpenCLIP has it
    NONE = "none"  # no projection: the state itself is pooled, as Flux.1 takes it


class ClipTextConfig(msgspec.Struct, frozen=True):
    """Sizes of a CLIP text transformer."""

    vocabulary: int
    width: int
    mlp_width: int
    layers: int
    heads: int
    positions: int = 77
    activation: Activation = Activation.QUICK_GELU
    epsilon: float = 1e-5
    # Set for encoders with a pooled output, which SDXL and Flux.1 need; None for no pooled output.
    projection: Projection | None = None
    projected_width: int = 0

    @property
    def pooled_width(self) -> int:
        """The width of the pooled output."""
        return self.width if self.projection is Projection.NONE else self.projected_width


def clip_text(
    g: GraphBuilder,
    config: ClipTextConfig,
    clip_skip: int = 1,
    *,
    final_norm: bool = True,
    attention_mask: bool = False,
    inserted: bool = False,
) -> None:
    """Emit the network: tokens int64 [batch, positions] to float32 [batch, positions, width].

    `clip_skip` n stops n - 1 layers before the end; 1 runs all layers. The final norm follows, as
    in A1111 for SD 1; without `final_norm` it follows only where no layer is skipped. With
    `attention_mask` there is an input of that name, float32 [batch, positions]: 1 for tokens that
    are attended to, 0 for the others. With `inserted` there are inputs `inserted`, float32 [batch,
    positions, width], and `is_inserted`, float32 [batch, positions]: where the latter is 1 the
    vectors of the former replace those of the tokens, where it is 0 they must be 0.

    With a `projection` there is an output `pooled`, float32 [batch, pooled_width], and an input
    `end`, float32 [batch, positions], 1 at the end token and 0 elsewhere: the last state of that
    token is pooled.
    """
    width, positions = config.width, config.positions
    tokens = g.input("tokens", DType.I64, ("batch", positions))
    table = g.weight(TOKEN_TABLE, (config.vocabulary, width))
    places = g.weight("text_model.embeddings.position_embedding.weight", (positions, width))
    words = g.op("Gather", table, tokens)
    x = g.op("Add", _with_inserted(g, words, config) if inserted else words, places)
    score_bias = _score_bias(g, positions) if attention_mask else None
    shown = config.layers - clip_skip + 1
    for layer in range(shown):
        x = _layer(g, x, config, layer, score_bias)
    normed = _final_norm(g, x, config) if final_norm or clip_skip == 1 else x
    g.output(normed, "last_hidden_state", DType.F32, ("batch", positions, width))
    if config.projection is not None:
        for layer in range(shown, config.layers):
            x = _layer(g, x, config, layer, score_bias)
        pooled = _pooled(g, _final_norm(g, x, config), config, config.projection)
        g.output(pooled, "pooled", DType.F32, ("batch", config.pooled_width))


def _with_inserted(g: GraphBuilder, words: Value, config: ClipTextConfig) -> Value:
    """Replace the vectors of some tokens; exact, as every factor is 0 or 1."""
    positions = config.positions
    vectors = g.input("inserted", DType.F32, ("batch", positions, config.width))
    marks = g.input("is_inserted", DType.F32, ("batch", positions))
    marked = g.op("Reshape", g.cast_to_element(marks), g.integers([0, positions, 1]))
    kept = g.op("Sub", g.constant(1.0), marked)
    return g.op("Add", g.op("Mul", words, kept), g.cast_to_element(vectors))


def _final_norm(g: GraphBuilder, x: Value, config: ClipTextConfig) -> Value:
    return g.layer_norm(x, "text_model.final_layer_norm", config.width, config.epsilon)


def _pooled(g: GraphBuilder, x: Value, config: ClipTextConfig, projection: Projection) -> Value:
    """Project the state of the end token (Radford et al. 2021, figure 3)."""
    width, sizes = config.width, (config.width, config.projected_width)
    end = g.cast_to_element(g.input("end", DType.F32, ("batch", config.positions)))
    chosen = g.op("MatMul", g.op("Reshape", end, g.integers([0, 1, config.positions])), x)
    chosen = g.op("Reshape", chosen, g.integers([0, width]))
    if projection is Projection.NONE:
        return chosen
    if projection is Projection.LINEAR:
        return g.linear(chosen, "text_projection", sizes, bias=False)
    return g.op("MatMul", chosen, g.weight("text_projection", sizes))


def _score_bias(g: GraphBuilder, positions: int) -> Value:
    """Return the bias of attention scores [batch, 1, 1, positions]: 0, or -1e4 where masked out."""
    mask = g.cast_to_element(g.input("attention_mask", DType.F32, ("batch", positions)))
    low = g.op("Add", g.op("Mul", mask, g.constant(1e4)), g.constant(-1e4))
    return g.op("Reshape", low, g.integers([0, 1, 1, positions]))


def _layer(
    g: GraphBuilder, x: Value, config: ClipTextConfig, layer: int, score_bias: Value | None
) -> Value:
    """Emit a pre-norm transformer layer with causal attention."""
    name = f"text_model.encoder.layers.{layer}"
    width, attn = config.width, f"{name}.self_attn"
    h = g.layer_norm(x, f"{name}.layer_norm1", width, config.epsilon)
    names = (f"{attn}.q_proj", f"{attn}.k_proj", f"{attn}.v_proj")
    to = Projections(names, width, width, config.heads)
    mixed = g.attend(h, h, to, causal_over=config.positions, score_bias=score_bias)
    x = g.add(x, g.linear(mixed, f"{attn}.out_proj", (width, width)))
    h = g.layer_norm(x, f"{name}.layer_norm2", width, config.epsilon)
    h = g.linear(h, f"{name}.mlp.fc1", (width, config.mlp_width))
    h = g.quick_gelu(h) if config.activation is Activation.QUICK_GELU else g.gelu(h)
    return g.add(x, g.linear(h, f"{name}.mlp.fc2", (config.mlp_width, width)))
