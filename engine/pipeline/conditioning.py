"""From prompts to what the denoiser attends to.

`plan_prompts` reads and tokenizes both prompts and finds out which chunks of tokens there are to
encode, `encode` encodes each once, and `Conditioning.at` puts together what is in effect at an
evaluation of the denoiser.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Convention, Emphasis, LengthMatching
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.pipeline.emphasis import Vectors, emphasised, mixed, without_words
from engine.text.chunks import (
    CHUNK_LENGTH,
    MAX_CHUNKS,
    TokenChunks,
    empty_chunks,
    extended,
    tokenize_prompt,
)
from engine.text.prompt import PromptPart
from engine.text.reading import Passage, WeightedTimeline, read_prompt
from engine.text.tags import NetworkTag
from engine.text.tokenizers import ClipTokenizer

# Chunks that are encoded for a picture, and at once: prompts that change have many.
_MAX_ROWS = 1024
_MAX_CHUNKS_READ = 4 * _MAX_ROWS
_ROWS_AT_ONCE = 64
# Chunks of each prompt where unequal numbers meet by repeating.
_MAX_REPEATED = 2 * MAX_CHUNKS
_KEPT = 4

Ids = NDArray[np.int64]
Seen = NDArray[np.bool_]

# Token ids int64 [chunks, 77] to the text encoder's output, float32 [chunks, 77, width]. Given also
# bool [chunks, 77], no token attends to those that are False.
EncodeTokens = Callable[[Ids, Seen | None], Vectors]


@dataclass(frozen=True, slots=True, eq=False)
class _Phrase:
    """One run of words: the rows of its chunks, and of variants without some words."""

    chunks: TokenChunks
    rows: tuple[int, ...]
    variants: tuple[tuple[int, ...], ...]
    # Of the whole, which counts 1, then of the variants.
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Mixture:
    """Phrases of equally many chunks that are mixed, see `engine.text.prompt.Mixture`."""

    phrases: tuple[_Phrase, ...]
    shares: tuple[float, ...]
    normalized: bool
    weight: float


@dataclass(frozen=True, slots=True)
class _Timeline:
    """Texts, each as its mixtures, of equally many chunks; and which is in effect until when."""

    texts: tuple[tuple[_Mixture, ...], ...]
    order: tuple[tuple[int, int], ...]
    chunks: int

    @property
    def times(self) -> tuple[int, ...]:
        """How often each text is in the order."""
        indices = [index for _, index in self.order]
        return tuple(indices.count(index) for index in range(len(self.texts)))

    def index_at(self, step: int) -> int:
        """The text in effect at an evaluation; behind the end the first one, as in A1111."""
        return next((index for until, index in self.order if step <= until), self.order[0][1])


@dataclass(frozen=True, slots=True, eq=False)
class PromptPlan:
    """What is to be encoded for both prompts.

    `rows` int64 [n, 77] are the distinct chunks; `seen` bool [n, 77] tells the tokens that may be
    attended to, None where that is all of them in each row. `weights` is how much each positive
    prompt counts; `tags` are the networks that the positive prompt asks for.
    """

    rows: Ids
    seen: Seen | None
    weights: tuple[float, ...]
    tags: tuple[NetworkTag, ...]
    positives: tuple[_Timeline, ...]
    negative: _Timeline
    convention: Convention

    def shape(self, *, guided: bool) -> tuple[int, int]:
        """How many contexts of how many tokens `Conditioning.at` will give."""
        positive = max(timeline.chunks for timeline in self.positives)
        chunks = positive
        match self.convention.length_matching:
            case LengthMatching.REPEAT if guided:
                chunks = math.lcm(positive, self.negative.chunks)
            case LengthMatching.EMPTY_CHUNKS:
                chunks = max(positive, self.negative.chunks)
            case _:
                pass
        return len(self.positives) + guided, chunks * CHUNK_LENGTH


def plan_prompts(
    prompt: str, negative: str, tokenizer: ClipTokenizer, convention: Convention, steps: int
) -> PromptPlan:
    """Read and tokenize both prompts.

    `steps` is how often the denoiser is expected to run, as the tool counts: for A1111 the number
    of steps, twice that for samplers of second order, also where a redrawn picture takes fewer.
    Raises EngineError(REQUEST_INVALID) for what the convention's tool refuses and for what is too
    long.
    """
    planner = _Planner(tokenizer, convention)
    reading = read_prompt(prompt, convention, steps)
    positives = tuple(planner.timeline(timeline) for timeline in reading.timelines)
    other = read_prompt(negative, convention, steps, negative=True)
    opposite = planner.timeline(other.timelines[0])
    if convention.length_matching is LengthMatching.REPEAT:
        _check_repeats(max(t.chunks for t in positives), opposite.chunks)
    rows, seen = planner.rows()
    weights = tuple(timeline.weight for timeline in reading.timelines)
    return PromptPlan(rows, seen, weights, reading.tags, positives, opposite, convention)


def _check_repeats(first: int, second: int) -> None:
    if math.lcm(first, second) > _MAX_REPEATED:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"Prompts of {first} and of {second} times 75 tokens are too long to go together.",
            "Shorten one of the prompts.",
        )


@dataclass(slots=True)
class _Planner:
    """Gathers the distinct rows of all prompts; row 0 is the empty prompt's."""

    tokenizer: ClipTokenizer
    convention: Convention
    found: dict[tuple[bytes, bytes], int] = field(default_factory=dict[tuple[bytes, bytes], int])
    chunks: int = 0

    def __post_init__(self) -> None:
        self._row(empty_chunks(self.tokenizer).ids[0], np.ones(CHUNK_LENGTH, np.bool_))

    def timeline(self, timeline: WeightedTimeline) -> _Timeline:
        """Plan what a prompt says as the run goes on."""
        order: dict[Passage, int] = {}
        for timed in timeline.passages:
            order.setdefault(timed.passage, len(order))
        laid_out: dict[Passage, list[list[TokenChunks]]] = {}
        for passage in order:
            laid_out[passage] = [self._chunks(mixture.phrases) for mixture in passage]
        total = max(sum(phrases[0].count for phrases in p) for p in laid_out.values())
        texts = tuple(self._text(p, chunks, total) for p, chunks in laid_out.items())
        indices = ((timed.until, order[timed.passage]) for timed in timeline.passages)
        return _Timeline(texts, tuple(indices), total)

    def rows(self) -> tuple[Ids, Seen | None]:
        """All rows, and what may be seen of each."""
        ids = b"".join(row for row, _ in self.found)
        seen = np.frombuffer(b"".join(mask for _, mask in self.found), np.bool_)
        rows = np.frombuffer(ids, np.int64).reshape(-1, CHUNK_LENGTH).copy()
        return rows, None if seen.all() else seen.reshape(rows.shape)

    def _chunks(self, phrases: Sequence[tuple[PromptPart, ...]]) -> list[TokenChunks]:
        """Phrases that are mixed, with equally many chunks."""
        laid_out = [tokenize_prompt(self.tokenizer, p, self.convention.chunking) for p in phrases]
        self.chunks += sum(chunks.count for chunks in laid_out)
        if self.chunks > _MAX_CHUNKS_READ:
            raise _too_many_rows()
        return self._extended(laid_out, max(chunks.count for chunks in laid_out))

    def _extended(self, phrases: Sequence[TokenChunks], count: int) -> list[TokenChunks]:
        return [extended(chunks, self.tokenizer, count) for chunks in phrases]

    def _text(
        self, passage: Passage, laid_out: Sequence[Sequence[TokenChunks]], total: int
    ) -> tuple[_Mixture, ...]:
        """A passage of `total` chunks, of which the last is extended by what is missing."""
        missing = total - sum(phrases[0].count for phrases in laid_out)
        if total > MAX_CHUNKS:
            tokens = f"{total * (CHUNK_LENGTH - 2):,}"
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                f"The prompt takes the room of {tokens} tokens, which is too many.",
                "Shorten the prompt.",
            )
        last = self._extended(laid_out[-1], laid_out[-1][0].count + missing)
        return tuple(
            _Mixture(
                tuple(map(self._phrase, mixture.phrases, chunks)),
                mixture.shares,
                mixture.normalized,
                mixture.weight,
            )
            for mixture, chunks in zip(passage, [*laid_out[:-1], last], strict=True)
        )

    def _phrase(self, parts: tuple[PromptPart, ...], chunks: TokenChunks) -> _Phrase:
        whole = np.ones(chunks.ids.shape, np.bool_)
        masks: list[Seen] = []
        shares: list[float] = []
        if self.convention.emphasis is Emphasis.COMPEL:
            masks, shares = without_words(chunks, parts)
        rows, *variants = (self._rows(chunks.ids, mask) for mask in (whole, *masks))
        return _Phrase(chunks, rows, tuple(variants), (1.0, *shares))

    def _rows(self, ids: Ids, seen: Seen) -> tuple[int, ...]:
        return tuple(map(self._row, ids, seen))

    def _row(self, ids: Ids, seen: Seen) -> int:
        index = self.found.setdefault((ids.tobytes(), seen.tobytes()), len(self.found))
        if index >= _MAX_ROWS:
            raise _too_many_rows()
        return index


def _too_many_rows() -> EngineError:
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        f"The prompt comes to more than {_MAX_ROWS:,} pieces to encode.",
        "Shorten the prompt, or let it change less often.",
    )


def encode(plan: PromptPlan, encode_tokens: EncodeTokens) -> "Conditioning":
    """Encode what a plan holds, each chunk once, and apply the weights of words."""
    encoded = np.concatenate(
        [
            encode_tokens(plan.rows[i : i + _ROWS_AT_ONCE], _at(plan.seen, i))
            for i in range(0, len(plan.rows), _ROWS_AT_ONCE)
        ]
    )
    emphasis = plan.convention.emphasis
    return Conditioning(
        plan.weights,
        tuple(_Track(_vectors(t, encoded, emphasis), t) for t in plan.positives),
        _Track(_vectors(plan.negative, encoded, emphasis), plan.negative),
        plan.convention.length_matching,
        encoded[0],
    )


def _at(seen: Seen | None, start: int) -> Seen | None:
    return None if seen is None else seen[start : start + _ROWS_AT_ONCE]


def _vectors(timeline: _Timeline, encoded: Vectors, emphasis: Emphasis) -> tuple[Vectors, ...]:
    """Each text of a timeline: float32 [tokens, width]."""
    weighed: dict[int, Vectors] = {}
    for group in zip(*map(_phrases, timeline.texts), strict=True):
        # A1111 encodes the texts of a prompt in one batch, which shows in the means it restores.
        together = emphasis is Emphasis.ORIGINAL
        for some in [group] if together else [(phrase,) for phrase in group]:
            weighed |= _weighed(some, timeline.times, encoded, emphasis)
    return tuple(_joined(text, weighed, encoded[0]) for text in timeline.texts)


def _weighed(
    group: Sequence[_Phrase], times: Sequence[int], encoded: Vectors, emphasis: Emphasis
) -> dict[int, Vectors]:
    """Phrases that are weighed together, by their identity: float32 [chunks, 77, width] each."""
    weights = [phrase.chunks.weights for phrase in group]
    times = times if len(group) > 1 else (1,)
    versions = [
        emphasised([encoded[list(r)] for r in rows], weights, times, encoded[0], emphasis)
        for rows in zip(*((phrase.rows, *phrase.variants) for phrase in group), strict=True)
    ]
    return {
        id(phrase): mixed(own, phrase.shares, normalized=True)
        for phrase, own in zip(group, zip(*versions, strict=True), strict=True)
    }


def _phrases(text: tuple[_Mixture, ...]) -> Iterator[_Phrase]:
    return (phrase for mixture in text for phrase in mixture.phrases)


def _joined(text: tuple[_Mixture, ...], weighed: dict[int, Vectors], empty: Vectors) -> Vectors:
    """The mixtures of a text one behind the other."""
    found: list[Vectors] = []
    for mixture in text:
        outputs = [weighed[id(phrase)] for phrase in mixture.phrases]
        whole = mixed(outputs, mixture.shares, normalized=mixture.normalized)
        if mixture.weight != 1:
            whole = (empty + (whole - empty) * mixture.weight).astype(np.float32, copy=False)
        found.append(whole.reshape(-1, whole.shape[-1]))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """The texts of a timeline, float32 [tokens, width] each."""

    texts: tuple[Vectors, ...]
    timeline: _Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Conditioning:
    """What the denoiser attends to in the course of the run; `weights` are the positives'."""

    weights: tuple[float, ...]
    positives: tuple[_Track, ...]
    negative: _Track
    matching: LengthMatching
    # The empty prompt, float32 [77, width].
    empty: Vectors
    _kept: dict[tuple[int, ...], Vectors] = field(default_factory=dict[tuple[int, ...], Vectors])

    def at(self, step: int, *, guided: bool) -> Vectors:
        """What is in effect at evaluation `step`, counted from 0: float32 [k, tokens, width].

        The positives in order, then, when guided, the negative. The array is the same object as
        before while nothing changes.
        """
        tracks = (*self.positives, self.negative) if guided else self.positives
        key = tuple(track.timeline.index_at(step) for track in tracks)
        # A negative makes a key of another length.
        if key not in self._kept:
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._stacked(key, guided=guided)
        return self._kept[key]

    def all_vectors(self) -> Iterator[Vectors]:
        """Every text's, to look for what is no number."""
        for track in (*self.positives, self.negative):
            yield from track.texts

    def _stacked(self, key: Sequence[int], *, guided: bool) -> Vectors:
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
        """How many tokens the denoiser sees where the negative prompt is or would be run, too."""
        if self.matching is LengthMatching.EMPTY_CHUNKS:
            return max(positive, len(self.negative.texts[0]))
        return positive


def _with_length(vectors: Vectors, total: int, empty: Vectors, matching: LengthMatching) -> Vectors:
    """Bring [k, tokens, width] to `total` tokens."""
    tokens = vectors.shape[1]
    match matching:
        case LengthMatching.REPEAT:
            # Attention to everything n times is attention to it once: so tools that run prompts of
            # unequal length one by one, or mask what is missing, get the same.
            return np.tile(vectors, (1, total // tokens, 1))
        case LengthMatching.EMPTY_CHUNKS:
            more = np.tile(empty, (len(vectors), (total - tokens) // CHUNK_LENGTH, 1))
            return np.concatenate([vectors, more], axis=1)
        case LengthMatching.REPEAT_LAST:
            return np.stack([_last_repeated(text[:total], total) for text in vectors])


def _last_repeated(text: Vectors, total: int) -> Vectors:
    return np.concatenate([text, np.repeat(text[-1:], total - len(text), axis=0)])
