"""A prompt as chunks of tokens to encode, and which of them are in effect when."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Convention, Emphasis, LengthMatching
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.clip.emphasis import without_words
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

# Chunks that are encoded for a picture: prompts that change have many.
_MAX_ROWS = 1024
_MAX_CHUNKS_READ = 4 * _MAX_ROWS
# Chunks of each prompt where unequal numbers meet by repeating.
_MAX_REPEATED = 2 * MAX_CHUNKS

TokenIds = NDArray[np.int64]
AttentionMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TokenPhrase:
    """One run of words: the rows of its chunks, and of variants without some words."""

    chunks: TokenChunks
    rows: tuple[int, ...]
    variants: tuple[tuple[int, ...], ...]
    # Of the whole, which counts 1, then of the variants.
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TokenMixture:
    """Phrases of equally many chunks that are mixed, see `engine.text.prompt.Mixture`."""

    phrases: tuple[TokenPhrase, ...]
    shares: tuple[float, ...]
    normalized: bool
    weight: float


@dataclass(frozen=True, slots=True)
class TokenTimeline:
    """Texts, each as its mixtures, of equally many chunks; and which is in effect until when."""

    texts: tuple[tuple[TokenMixture, ...], ...]
    order: tuple[tuple[int, int], ...]
    chunks: int

    @property
    def times(self) -> tuple[int, ...]:
        """The number of times that each text is in the order."""
        indices = [index for _, index in self.order]
        return tuple(indices.count(index) for index in range(len(self.texts)))

    def index_at(self, step: int) -> int:
        """The text in effect at an evaluation; behind the end the first one, as in A1111."""
        return next((index for until, index in self.order if step <= until), self.order[0][1])


@dataclass(frozen=True, slots=True, eq=False)
class PromptTokens:
    """The tokens of a prompt and its negative prompt.

    `rows` int64 [n, 77] are the distinct chunks; `attention_mask` bool [n, 77] is True for tokens
    that may be attended to, None where that is all of them in each row. `weights` is how much each
    positive prompt counts; `tags` are the networks that the positive prompt asks for.
    """

    rows: TokenIds
    attention_mask: AttentionMask | None
    weights: tuple[float, ...]
    tags: tuple[NetworkTag, ...]
    positives: tuple[TokenTimeline, ...]
    negative: TokenTimeline
    convention: Convention

    def shape(self, *, guided: bool) -> tuple[int, int]:
        """The contexts, and the tokens of each, that `PromptEmbeddings.at` will give."""
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


def tokenize_prompts(
    prompt: str, negative: str, tokenizer: ClipTokenizer, convention: Convention, steps: int
) -> PromptTokens:
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
    rows, mask = planner.rows()
    weights = tuple(timeline.weight for timeline in reading.timelines)
    return PromptTokens(rows, mask, weights, reading.tags, positives, opposite, convention)


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

    def timeline(self, timeline: WeightedTimeline) -> TokenTimeline:
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
        return TokenTimeline(texts, tuple(indices), total)

    def rows(self) -> tuple[TokenIds, AttentionMask | None]:
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
    ) -> tuple[TokenMixture, ...]:
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
            TokenMixture(
                tuple(map(self._phrase, mixture.phrases, chunks)),
                mixture.shares,
                mixture.normalized,
                mixture.weight,
            )
            for mixture, chunks in zip(passage, [*laid_out[:-1], last], strict=True)
        )

    def _phrase(self, parts: tuple[PromptPart, ...], chunks: TokenChunks) -> TokenPhrase:
        whole = np.ones(chunks.ids.shape, np.bool_)
        masks: list[AttentionMask] = []
        shares: list[float] = []
        if self.convention.emphasis is Emphasis.COMPEL:
            masks, shares = without_words(chunks, parts)
        rows, *variants = (self._rows(chunks.ids, mask) for mask in (whole, *masks))
        return TokenPhrase(chunks, rows, tuple(variants), (1.0, *shares))

    def _rows(self, ids: TokenIds, seen: AttentionMask) -> tuple[int, ...]:
        return tuple(map(self._row, ids, seen))

    def _row(self, ids: TokenIds, seen: AttentionMask) -> int:
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
