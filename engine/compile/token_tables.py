"""The tables of text encoders, which stay on the host where weights are streamed to a device."""

from collections.abc import Mapping

from engine.graphs import clip_text, qwen3, t5
from engine.weights.sources import WeightSource

_NAMES = frozenset({clip_text.TOKEN_TABLE, qwen3.TOKEN_TABLE, t5.TOKEN_TABLE})


def without_tables(weights: Mapping[str, WeightSource]) -> list[WeightSource]:
    """Return the weights but for tables of tokens: a run copies only the rows of its tokens."""
    return [source for name, source in weights.items() if name not in _NAMES]
