"""The tables of text encoders, of which a run reads the rows of its tokens alone.

They stay on the host where weights are streamed to a device, and in their file where a runtime
packs no weights but those that it multiplies with.
"""

from collections.abc import Collection, Mapping

from backends.base import OperatorSet, Streaming
from engine.graphs import clip_text, qwen3, t5
from engine.weights.sources import WeightSource

_NAMES = frozenset({clip_text.TOKEN_TABLE, qwen3.TOKEN_TABLE, t5.TOKEN_TABLE})


def without_tables(weights: Mapping[str, WeightSource]) -> list[WeightSource]:
    """Return the weights but for tables of tokens: a run copies only the rows of its tokens."""
    return [source for name, source in weights.items() if name not in _NAMES]


def streamed_weights(
    weights: Mapping[str, WeightSource], streaming: Streaming | None
) -> Collection[WeightSource]:
    """Return the weights that reach the device where they are streamed, or read in place."""
    has_tables = streaming is not None and not streaming.tables_on_host
    return weights.values() if has_tables else without_tables(weights)


def held_weights(
    weights: Mapping[str, WeightSource], operators: OperatorSet
) -> Collection[WeightSource]:
    """Return the weights of which the runtime may hold something of its own."""
    return without_tables(weights) if operators.reads_in_place else weights.values()
