"""The embeddings of a prompt and its negative prompt, from one text encoder.

`tokenize_prompts` parses both and collects the chunks of tokens, `encode` encodes each distinct
chunk once, and `PromptEmbeddings.at` assembles the texts in effect at an evaluation of the
denoiser.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from engine import result_checks
from engine.api.prompt_rules import Emphasis, LengthMatching
from engine.families.shared.prompts.emphasis import Embeddings, emphasised, mixed
from engine.families.shared.prompts.prompt_tokens import (
    AttentionMask,
    Insertions,
    PromptTokens,
    TokenIds,
    TokenMixture,
    TokenPhrase,
    TokenTimeline,
)

# The number of chunks encoded at once by default.
_ROWS_AT_ONCE = 64
_KEPT = 4

Rows = TypeVar("Rows", AttentionMask, Insertions)


class EncoderOutput(msgspec.Struct, frozen=True, eq=False):
    """A text encoder's output for chunks: float32 [chunks, length, width].

    `pooled` is one vector per chunk, float32 [chunks, width]; None for encoders without pooling.
    """

    vectors: Embeddings
    pooled: Embeddings | None = None


# Encodes token ids int64 [chunks, length]; with a mask bool [chunks, length], no token attends to
# tokens that are False; with insertions int32 [chunks, length], vectors of embeddings replace
# tokens.
RunEncoder = Callable[[TokenIds, AttentionMask | None, Insertions | None], EncoderOutput]


def encode(
    plan: PromptTokens,
    encode_tokens: RunEncoder,
    *,
    rows_at_once: int = _ROWS_AT_ONCE,
    weighs_apart: bool = False,
) -> "PromptEmbeddings":
    """Encode the prompts of a plan, each distinct chunk once, and apply the prompt weights.

    `weighs_apart`: A1111's means are those of each text, not of all texts of a prompt.
    """
    found = [
        encode_tokens(
            plan.rows[i : i + rows_at_once],
            _part(plan.attention_mask, i, rows_at_once),
            _part(plan.inserted, i, rows_at_once),
        )
        for i in range(0, len(plan.rows), rows_at_once)
    ]
    encoded = np.concatenate([some.vectors for some in found])
    whole = [some.pooled for some in found if some.pooled is not None]
    pooled = np.concatenate(whole) if whole else None
    empty = np.zeros_like(encoded[0]) if plan.empty is None else encoded[plan.empty]
    emphasis = plan.convention.emphasis
    weighing = _Weighing(encoded, empty, emphasis, together=not weighs_apart)

    def embedded(timeline: TokenTimeline) -> _TimelineEmbeddings:
        texts = weighing.vectors(timeline)
        return _TimelineEmbeddings(texts, timeline, _first_rows(timeline, pooled))

    return PromptEmbeddings(
        plan.weights,
        tuple(map(embedded, plan.positives)),
        embedded(plan.negative),
        plan.convention.length_matching,
        empty,
    )


def _first_rows(timeline: TokenTimeline, pooled: Embeddings | None) -> tuple[Embeddings, ...]:
    """Return each text's pooled vector, of its first chunk as in A1111 and ComfyUI; or nothing."""
    if pooled is None:
        return ()
    return tuple(pooled[text[0].phrases[0].rows[0]] for text in timeline.texts)


def _part(rows: Rows | None, start: int, count: int) -> Rows | None:
    return None if rows is None else rows[start : start + count]


class _Weighing(msgspec.Struct, frozen=True, eq=False):
    """Applies prompt weights to encoded rows, float32 [rows, length, width].

    `empty` is the empty prompt's row. A1111 encodes the texts of a prompt in one batch, which shows
    in the means it restores, unless they are not weighed `together`.
    """

    encoded: Embeddings
    empty: Embeddings
    emphasis: Emphasis
    together: bool

    def vectors(self, timeline: TokenTimeline) -> tuple[Embeddings, ...]:
        """Return the embeddings of each text of a timeline: float32 [tokens, width]."""
        weighed: dict[int, Embeddings] = {}
        together = self.together and self.emphasis is Emphasis.ORIGINAL
        for group in zip(*map(_phrases, timeline.texts), strict=True):
            for some in [group] if together else [(phrase,) for phrase in group]:
                weighed |= self._weighed(some, timeline.times)
        return tuple(_joined(text, weighed, self.empty) for text in timeline.texts)

    def _weighed(self, group: Sequence[TokenPhrase], times: Sequence[int]) -> dict[int, Embeddings]:
        """Apply the prompt weights to phrases of one batch.

        Returns float32 [chunks, length, width] for each phrase, by the phrase's `id`.
        """
        weights = [phrase.chunks.weights for phrase in group]
        times = times if len(group) > 1 else (1,)
        versions = [
            emphasised(
                [self.encoded[list(r)] for r in rows], weights, times, self.empty, self.emphasis
            )
            for rows in zip(*((phrase.rows, *phrase.variants) for phrase in group), strict=True)
        ]
        return {
            id(phrase): mixed(own, phrase.shares, normalized=True)
            for phrase, own in zip(group, zip(*versions, strict=True), strict=True)
        }


def _phrases(text: tuple[TokenMixture, ...]) -> Iterator[TokenPhrase]:
    return (phrase for mixture in text for phrase in mixture.phrases)


def _joined(
    text: tuple[TokenMixture, ...], weighed: dict[int, Embeddings], empty: Embeddings
) -> Embeddings:
    """Concatenate the mixtures of a text: float32 [tokens, width]."""
    found: list[Embeddings] = []
    for mixture in text:
        outputs = [weighed[id(phrase)] for phrase in mixture.phrases]
        whole = mixed(outputs, mixture.shares, normalized=mixture.normalized)
        if mixture.weight != 1:
            whole = (empty + (whole - empty) * mixture.weight).astype(np.float32, copy=False)
        found.append(whole.reshape(-1, whole.shape[-1]))
    return np.concatenate(found)


class _TimelineEmbeddings(msgspec.Struct, frozen=True, eq=False):
    """The embeddings of a timeline's texts, float32 [tokens, width], and pooled, [width] each."""

    texts: tuple[Embeddings, ...]
    timeline: TokenTimeline
    pooled: tuple[Embeddings, ...] = ()

    def zeroed(self) -> "_TimelineEmbeddings":
        """Return the same with zeros for all embeddings."""
        texts, pooled = (tuple(map(np.zeros_like, given)) for given in (self.texts, self.pooled))
        return _TimelineEmbeddings(texts, self.timeline, pooled)


class PromptEmbeddings(msgspec.Struct, frozen=True, eq=False):
    """The embeddings of both prompts at each evaluation of a run.

    `weights` are the weights of the positive prompts.
    """

    weights: tuple[float, ...]
    positives: tuple[_TimelineEmbeddings, ...]
    negative: _TimelineEmbeddings
    matching: LengthMatching
    # The embeddings of the empty prompt, float32 [length, width].
    empty: Embeddings
    _kept: dict[tuple[int, ...], Embeddings] = msgspec.field(
        default_factory=dict[tuple[int, ...], Embeddings]
    )

    def at(self, step: int, *, guided: bool) -> Embeddings:
        """Return the embeddings in effect at evaluation `step`, from 0: float32 [k, tokens, width].

        The k prompts are the positives in order, then, when guided, the negative. While the texts
        stay the same, the array is the same object.
        """
        tracks = (*self.positives, self.negative) if guided else self.positives
        key = tuple(track.timeline.index_at(step) for track in tracks)
        # With the negative prompt the key is longer, so keys with and without it differ.
        if key not in self._kept:
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._stacked(key, guided=guided)
        return self._kept[key]

    def pooled_at(self, step: int, *, guided: bool) -> Embeddings | None:
        """Return the pooled texts in effect at `step`: float32 [k, width].

        The order is that of `at`; None for an encoder without pooled output.
        """
        tracks = (*self.positives, self.negative) if guided else self.positives
        if not self.negative.pooled:
            return None
        return np.stack([track.pooled[track.timeline.index_at(step)] for track in tracks])

    def without_negative(self) -> "PromptEmbeddings":
        """Return the same embeddings with zeros in place of the negative prompt."""
        return msgspec.structs.replace(self, negative=self.negative.zeroed(), _kept={})

    def all_texts(self) -> Iterator[Embeddings]:
        """Yield each text's embeddings, float32 [tokens, width], for instance to look for NaN."""
        for track in (*self.positives, self.negative):
            yield from track.texts

    def _stacked(self, key: Sequence[int], *, guided: bool) -> Embeddings:
        texts = [track.texts[i] for track, i in zip(self.positives, key, strict=False)]
        # reconstruct_multicond_batch of A1111's prompt_parser.py
        longest = max(len(text) for text in texts)
        positives = np.stack([_last_repeated(text, longest) for text in texts])
        if not guided:
            return _with_length(positives, self._length(longest), self.empty, self.matching)
        negative = self.negative.texts[key[-1]][None]
        total = self._length(longest)
        if self.matching is LengthMatching.REPEAT:
            total = math.lcm(longest, negative.shape[1])
        return np.concatenate(
            [_with_length(z, total, self.empty, self.matching) for z in (positives, negative)]
        )

    def _length(self, positive: int) -> int:
        """Return the token count for the denoiser, given the longest positive prompt's count.

        A longer negative prompt extends it if the convention pads with empty chunks.
        """
        if self.matching is LengthMatching.EMPTY_CHUNKS:
            return max(positive, len(self.negative.texts[0]))
        return positive


def _with_length(
    vectors: Embeddings, total: int, empty: Embeddings, matching: LengthMatching
) -> Embeddings:
    """Repeat, pad or cut embeddings [k, tokens, width] to `total` tokens, as `matching` says."""
    tokens = vectors.shape[1]
    match matching:
        case LengthMatching.REPEAT:
            # Attention to n copies of all tokens equals attention to one copy, so the result is
            # that of tools that run prompts of unequal length one by one or mask the padding.
            return np.tile(vectors, (1, total // tokens, 1))
        case LengthMatching.EMPTY_CHUNKS:
            more = np.tile(empty, (len(vectors), (total - tokens) // len(empty), 1))
            return np.concatenate([vectors, more], axis=1)
        case LengthMatching.REPEAT_LAST:
            return np.stack([_last_repeated(text[:total], total) for text in vectors])


def _last_repeated(text: Embeddings, total: int) -> Embeddings:
    return np.concatenate([text, np.repeat(text[-1:], total - len(text), axis=0)])


def first_problem(prompts: Mapping[Any, PromptEmbeddings]) -> str | None:
    """Return the reason that embeddings are invalid, such as NaN, or None."""
    texts = (text for prompt in prompts.values() for text in prompt.all_texts())
    return next(filter(None, map(result_checks.numbers, texts)), None)


def same_arrays(found: Sequence[Embeddings | None], known: Sequence[Embeddings | None]) -> bool:
    """Return True if these are the same objects, in the same order, as those that are held."""
    return len(found) == len(known) and all(a is b for a, b in zip(found, known, strict=True))
