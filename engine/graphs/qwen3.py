"""Qwen3's decoder (Qwen team 2025) as an encoder of texts, as Hugging Face names it.

Each token attends to itself and earlier ones. Several heads of queries share one of keys and
values (Ainslie et al. 2023); queries and keys are normalised by head and have rotary embeddings.
"""

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.rotary_embeddings import rotary_angles, rotated_halves

# The vectors of tokens, of which a run looks up a few.
TOKEN_TABLE = "embed_tokens.weight"
EPSILON = 1e-6
ROTATION_BASE = 1_000_000.0
# Finite, so that a row never becomes inf - inf; it vanishes after the softmax.
_HIDDEN = -1e4
# In float16 an MLP's results are computed divided by this.
_DIVISOR = 64.0


class Qwen3Config(msgspec.Struct, frozen=True):
    """Sizes of a Qwen3 decoder; `key_heads` heads of keys and values serve all `heads`."""

    vocabulary: int
    width: int
    heads: int
    key_heads: int
    head_width: int
    mlp_width: int
    layers: int
    epsilon: float = EPSILON
    rotation_base: float = ROTATION_BASE


def qwen3_encoder(g: GraphBuilder, config: Qwen3Config, after: tuple[int, ...]) -> None:
    """Emit the network: tokens int64 [batch, tokens] to `states`, those `after` some layers.

    `after` has numbers of layers, in ascending order; the states are [batch, tokens, width of all
    of them side by side], without the final norm, and no later layer is emitted. The other inputs
    are those of `place_inputs`. Where the graph is in float16, the sum of all layers is in float32:
    single numbers of it exceed float16's range.
    """
    tokens = g.input("tokens", DType.I64, ("batch", "tokens"))
    writer = _Qwen3Writer(g, config)
    table = g.weight(TOKEN_TABLE, (config.vocabulary, config.width))
    x = writer.wide(g.op("Gather", table, tokens))
    found: list[Value] = []
    for layer in range(after[-1]):
        x = writer.layer(x, f"layers.{layer}")
        if layer + 1 in after:
            found.append(x)
    states = found[0] if len(found) == 1 else g.op("Concat", *found, axis=2)
    width = len(found) * config.width
    g.output(states, "states", DType.F32, ("batch", "tokens", width))


def place_inputs(config: Qwen3Config, tokens: int, seen: int | None = None) -> dict[str, Array]:
    """Return cosines and sines, float32 [tokens, head width], and `later`, [tokens, tokens].

    The last one is added to the scores, and hides later tokens from earlier ones, and those that
    follow the first `seen` from all; None: each is seen.
    """
    positions = np.arange(tokens, dtype=np.float64)
    angles = rotary_angles(positions, config.head_width, config.rotation_base, doubled=False)
    later = np.triu(np.full((tokens, tokens), _HIDDEN, np.float32), 1)
    if seen is not None:
        later[:, seen:] = _HIDDEN
    return {
        "cosines": np.cos(angles).astype(np.float32),
        "sines": np.sin(angles).astype(np.float32),
        "later": later,
    }


class _Qwen3Writer:
    """Emits the layers; what all of them share is emitted once."""

    def __init__(self, g: GraphBuilder, config: Qwen3Config) -> None:
        self.g, self.config = g, config
        width = config.head_width
        self._cosines, self._sines = (
            g.op(
                "Reshape",
                g.cast_to_element(g.input(name, DType.F32, ("tokens", width))),
                g.integers([-1, 1, width]),
            )
            for name in ("cosines", "sines")
        )
        later = g.cast_to_element(g.input("later", DType.F32, ("tokens", "tokens")))
        self._later = g.op("Unsqueeze", g.op("Unsqueeze", later, g.integers([0])), g.integers([0]))
        # The head of keys that serves each head of queries.
        serving = np.repeat(np.arange(config.key_heads), config.heads // config.key_heads)
        self._serving = g.integers(serving.tolist())

    def layer(self, x: Value, name: str) -> Value:
        """Emit attention and MLP, each after a norm and with a residual."""
        g, config = self.g, self.config
        h = g.rms_norm(x, f"{name}.input_layernorm", config.width, config.epsilon)
        x = g.op("Add", x, self.wide(self._attention(h, f"{name}.self_attn")))
        norm = f"{name}.post_attention_layernorm"
        h = g.rms_norm(x, norm, config.width, config.epsilon)
        return g.op("Add", x, self._mlp(h, f"{name}.mlp"))

    def wide(self, x: Value) -> Value:
        """Return `x` in the type of the sum of all layers."""
        return self.g.cast(x, DType.F32) if self.g.element is DType.F16 else x

    def _attention(self, x: Value, name: str) -> Value:
        g, config = self.g, self.config
        inner = config.heads * config.head_width
        whole = g.integers([0, 0, inner])
        q = self._projected(x, f"{name}.q_proj", config.heads)
        k, v = (self._projected(x, f"{name}.{part}_proj", config.key_heads) for part in ("k", "v"))
        q, k = (self._placed(rows, f"{name}.{part}_norm") for rows, part in ((q, "q"), (k, "k")))
        k, v = (g.op("Gather", rows, self._serving, axis=2) for rows in (k, v))
        q, k, v = (g.op("Reshape", rows, whole) for rows in (q, k, v))
        mixed = g.attention(q, k, v, config.heads, config.head_width, score_bias=self._later)
        return g.linear(mixed, f"{name}.o_proj", (inner, config.width), bias=False)

    def _projected(self, x: Value, name: str, heads: int) -> Value:
        """Emit a projection without bias: [batch, tokens, heads, head width]."""
        g, config = self.g, self.config
        h = g.linear(x, name, (config.width, heads * config.head_width), bias=False)
        return g.op("Reshape", h, g.integers([0, 0, heads, config.head_width]))

    def _placed(self, x: Value, norm: str) -> Value:
        """Emit the norm of each head and its rotary embedding."""
        config = self.config
        normal = self.g.rms_norm(x, norm, config.head_width, config.epsilon)
        return rotated_halves(self.g, normal, config.head_width, self._cosines, self._sines)

    def _mlp(self, x: Value, name: str) -> Value:
        g, config = self.g, self.config
        sizes, back = (config.width, config.mlp_width), (config.mlp_width, config.width)
        gate = g.silu(g.linear(x, f"{name}.gate_proj", sizes, bias=False))
        h = g.op("Mul", gate, g.linear(x, f"{name}.up_proj", sizes, bias=False))
        if g.element is not DType.F16:
            return g.linear(h, f"{name}.down_proj", back, bias=False)
        h = g.op("Mul", h, g.constant(1 / _DIVISOR))
        y = self.wide(g.linear(h, f"{name}.down_proj", back, bias=False))
        return g.op("Mul", y, g.constant(_DIVISOR, DType.F32))
