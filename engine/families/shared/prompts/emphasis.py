"""Prompt weights, applied to the text encoder's output.

References: A1111 `modules/sd_emphasis.py`, ComfyUI `comfy/sd1_clip.py` (`ClipTokenWeightEncoder`),
compel `compel/embeddings_provider.py` (`build_weighted_embedding_tensor`,
`get_embeddings_for_weighted_prompt_fragments`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.api.prompt_rules import Emphasis
from engine.text.chunks import CHUNK_LENGTH, TokenChunks
from engine.text.prompt import PromptPart, WeightedText

Embeddings = NDArray[np.float32]

# compel's substitute for weight 0, at which the prompt without the words would count infinitely.
_LEAST_WEIGHT = 1e-5


def emphasised(
    outputs: Sequence[Embeddings],
    weights: Sequence[NDArray[np.float32]],
    times: Sequence[int],
    empty: Embeddings,
    emphasis: Emphasis,
) -> list[Embeddings]:
    """Apply token weights, float32 [chunks, length], to outputs, float32 [chunks, length, width].

    The outputs belong to prompts that A1111 encodes in one batch, with equally many chunks each;
    `times` is the number of times that each prompt occurs in the batch. A1111 restores the mean of
    each chunk over the whole batch. `empty` is the empty prompt's output, [length, width].
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
    # If all weights are 1, the means are bit-identical and the factors are 1.
    factors = (_means(outputs, times) / _means(scaled, times)).astype(np.float32)
    return [z * factors[:, None, None] for z in scaled]


def _means(outputs: Sequence[Embeddings], times: Sequence[int]) -> NDArray[np.float64]:
    """Return the mean of each chunk over all outputs, weighted by `times`: float64 [chunks]."""
    means = np.stack([z.mean(axis=(1, 2), dtype=np.float64) for z in outputs])
    return np.average(means, axis=0, weights=times)


def without_words(
    chunks: TokenChunks, parts: Sequence[PromptPart]
) -> tuple[list[NDArray[np.bool_]], list[float]]:
    """Return compel's variants of a prompt, each without one part of weight below 1.

    Returns the attention mask of each variant, bool [chunks, length], True for tokens outside the
    part, and the share of each variant in the mixture, in which the whole prompt has the share 1.
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
        # The tokens that begin and end a chunk stay visible if the part spans several chunks.
        visible[::CHUNK_LENGTH] = True
        visible[CHUNK_LENGTH - 1 :: CHUNK_LENGTH] = True
        seen.append(visible.reshape(chunks.parts.shape))
        weight = max(part.weight, _LEAST_WEIGHT)
        counts.append(math.tan((1 - weight) * math.pi / 2))
    return seen, counts


def mixed(
    outputs: Sequence[Embeddings], shares: Sequence[float], *, normalized: bool
) -> Embeddings:
    """Return the sum of outputs times their shares, which are first divided by their sum if asked.

    The outputs have the same shape; `normalized` asks for the division.
    """
    factors = np.asarray(shares, np.float32)
    if normalized:
        factors = factors / factors.sum(dtype=np.float32)
    if len(outputs) == 1 and factors[0] == 1:
        return outputs[0]
    total = outputs[0] * factors[0]
    for z, factor in zip(outputs[1:], factors[1:], strict=True):
        total += z * factor
    return total
