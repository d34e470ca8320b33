"""Weights of words, applied to the text encoder's output.

References: A1111 `modules/sd_emphasis.py`, ComfyUI `comfy/sd1_clip.py` (`ClipTokenWeightEncoder`),
compel `compel/embeddings_provider.py` (`build_weighted_embedding_tensor`,
`get_embeddings_for_weighted_prompt_fragments`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Emphasis
from engine.text.chunks import CHUNK_LENGTH, TokenChunks
from engine.text.prompt import PromptPart, WeightedText

Embeddings = NDArray[np.float32]

# compel's weight of 0, where the prompt without the words would count infinitely.
_LEAST_WEIGHT = 1e-5


def emphasised(
    outputs: Sequence[Embeddings],
    weights: Sequence[NDArray[np.float32]],
    times: Sequence[int],
    empty: Embeddings,
    emphasis: Emphasis,
) -> list[Embeddings]:
    """Apply token weights, float32 [chunks, 77], to outputs, float32 [chunks, 77, width].

    The outputs are those of prompts that A1111 encodes in one batch, equally many chunks each,
    `times` how often each is in it: its mean is that of a chunk in all of them. `empty` is the
    empty prompt's output, [77, width].
    """
    match emphasis:
        case Emphasis.NONE | Emphasis.LITERAL:
            return list(outputs)
        case Emphasis.ORIGINAL | Emphasis.NO_NORM:
            restores = emphasis is Emphasis.ORIGINAL
            return _multiplied(outputs, weights, times, restores_mean=restores)
        case Emphasis.FROM_EMPTY | Emphasis.COMPEL:
            return [
                np.where(w[..., None] == 1, z, empty + (z - empty) * w[..., None])
                for z, w in zip(outputs, weights, strict=True)
            ]


def _multiplied(
    outputs: Sequence[Embeddings],
    weights: Sequence[NDArray[np.float32]],
    times: Sequence[int],
    *,
    restores_mean: bool,
) -> list[Embeddings]:
    scaled = [z * w[..., None] for z, w in zip(outputs, weights, strict=True)]
    if not restores_mean:
        return scaled
    # Where all weights are 1 the means are the same to the last bit.
    factors = (_means(outputs, times) / _means(scaled, times)).astype(np.float32)
    return [z * factors[:, None, None] for z in scaled]


def _means(outputs: Sequence[Embeddings], times: Sequence[int]) -> NDArray[np.float64]:
    """The mean of each chunk over all outputs: float64 [chunks]."""
    means = np.stack([z.mean(axis=(1, 2), dtype=np.float64) for z in outputs])
    return np.average(means, axis=0, weights=times)


def without_words(
    chunks: TokenChunks, parts: Sequence[PromptPart]
) -> tuple[list[NDArray[np.bool_]], list[float]]:
    """compel's variants of a prompt in which words of a weight below 1 are not seen.

    Returns, for each such part, the tokens that are seen, bool [chunks, 77], and how much the
    variant counts where the whole prompt counts 1.
    """
    seen: list[NDArray[np.bool_]] = []
    counts: list[float] = []
    flat = chunks.parts.reshape(-1)
    for index, part in enumerate(parts):
        if not isinstance(part, WeightedText) or part.weight >= 1:
            continue
        places = np.flatnonzero(flat == index)
        if not places.size:
            continue
        visible = np.ones(flat.size, np.bool_)
        visible[places[0] : places[-1] + 1] = False
        # What bounds the chunks stays, where the words go on in the next one.
        visible[::CHUNK_LENGTH] = True
        visible[CHUNK_LENGTH - 1 :: CHUNK_LENGTH] = True
        seen.append(visible.reshape(chunks.parts.shape))
        weight = max(part.weight, _LEAST_WEIGHT)
        counts.append(math.tan((1 - weight) * math.pi / 2))
    return seen, counts


def mixed(
    outputs: Sequence[Embeddings], shares: Sequence[float], *, normalized: bool
) -> Embeddings:
    """The sum of equally large outputs, each times its share or, normalized, times its part."""
    factors = np.asarray(shares, np.float32)
    if normalized:
        factors = factors / factors.sum(dtype=np.float32)
    if len(outputs) == 1 and factors[0] == 1:
        return outputs[0]
    total = outputs[0] * factors[0]
    for z, factor in zip(outputs[1:], factors[1:], strict=True):
        total += z * factor
    return total
