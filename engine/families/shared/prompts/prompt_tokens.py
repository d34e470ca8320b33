"""A prompt as chunks of tokens to encode, and the evaluations at which each chunk is in effect."""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Convention
from engine.api.prompt_rules import Emphasis, LengthMatching
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.errors import EngineError
from engine.families.shared.prompts.emphasis import without_words
from engine.text.chunks import (
    CHUNK_TOKENS,
    MAX_CHUNKS,
    TokenChunks,
    extended,
)
from engine.text.embedded import NO_VECTOR, EmbeddingReader
from engine.text.prompt import PromptPart
from engine.text.reading import Passage, PromptReading, WeightedTimeline, read_prompt
from engine.text.tags import NetworkTag
from engine.text.token_layouts import ClipChunks, TokenLayout
from engine.text.tokenizers import ClipTokenizer

# The most distinct chunks encoded for a picture; prompts that change during the run have many.
_MAX_ROWS = 1024
_MAX_CHUNKS_READ = 4 * _MAX_ROWS
# The most chunks per prompt after prompts of unequal length are repeated to a common length.
_MAX_REPEATED = 2 * MAX_CHUNKS

TokenIds = NDArray[np.int64]
AttentionMask = NDArray[np.bool_]
# Indices into `PromptTokens.vectors`, int32 [rows, length]; `NO_VECTOR` where there is a token.
Insertions = NDArray[np.int32]


class TokenPhrase(msgspec.Struct, frozen=True, eq=False):
    """A phrase of a prompt: the rows of its chunks, and the rows of variants without some words.

    A row is an index into `PromptTokens.rows`.
    """

    chunks: TokenChunks
    rows: tuple[int, ...]
    variants: tuple[tuple[int, ...], ...]
    # The share of the whole phrase, which is 1, then the shares of the variants.
    shares: tuple[float, ...]


class TokenMixture(msgspec.Struct, frozen=True):
    """Phrases of equally many chunks whose embeddings are mixed (`engine.text.prompt.Mixture`)."""

    phrases: tuple[TokenPhrase, ...]
    shares: tuple[float, ...]
    normalized: bool
    weight: float


class TokenTimeline(msgspec.Struct, frozen=True):
    """The texts that a prompt takes in the course of a run, each a tuple of mixtures.

    All texts have the same number of `chunks`. `order` lists pairs of an evaluation and an index
    into `texts`: that text is in effect until that evaluation, inclusive.
    """

    texts: tuple[tuple[TokenMixture, ...], ...]
    order: tuple[tuple[int, int], ...]
    chunks: int

    @property
    def times(self) -> tuple[int, ...]:
        """The number of times that each text occurs in `order`."""
        indices = [index for _, index in self.order]
        return tuple(indices.count(index) for index in range(len(self.texts)))

    def index_at(self, step: int) -> int:
        """Return the index of the text in effect at an evaluation; past the end that of the first.

        A1111 has the same rule.
        """
        return next((index for until, index in self.order if step <= until), self.order[0][1])


class PromptTokens(msgspec.Struct, frozen=True, eq=False):
    """The tokens of a prompt and its negative prompt.

    `rows` int64 [n, length] are the distinct chunks; `attention_mask` bool [n, length] is True for
    tokens that may be attended to, None if all may. `weights` are the weights of the positive
    prompts; `tags` are the extra networks that the positive prompt names. `empty` is the row of the
    empty prompt, None where nothing depends on it. `inserted` int32 [n, length] are indices into
    `vectors`, or `NO_VECTOR`; None if no vector of an embedding is inserted. `used` are the
    embeddings by the names that the prompts call them, and `warnings` are about embeddings.
    """

    rows: TokenIds
    attention_mask: AttentionMask | None
    weights: tuple[float, ...]
    tags: tuple[NetworkTag, ...]
    positives: tuple[TokenTimeline, ...]
    negative: TokenTimeline
    convention: Convention
    empty: int | None = 0
    inserted: Insertions | None = None
    vectors: tuple[tuple[Embedding, int], ...] = ()
    used: Mapping[str, Embedding] = msgspec.field(default_factory=dict[str, Embedding])
    warnings: tuple[ErrorInfo, ...] = ()

    def shape(self, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts in `PromptEmbeddings.at`, and the tokens of each."""
        positive = max(timeline.chunks for timeline in self.positives)
        chunks = positive
        match self.convention.length_matching:
            case LengthMatching.REPEAT if guided:
                chunks = math.lcm(positive, self.negative.chunks)
            case LengthMatching.EMPTY_CHUNKS:
                chunks = max(positive, self.negative.chunks)
            case _:
                pass
        return len(self.positives) + guided, chunks * self.rows.shape[1]


def tokenize_prompts(
    prompt: str,
    negative: str,
    tokenizer: ClipTokenizer,
    convention: Convention,
    steps: int,
    reader: EmbeddingReader | None = None,
    drawn: int | None = None,
) -> PromptTokens:
    """Read and tokenize both prompts; `reader` finds the embeddings that they name.

    `steps` is the expected number of evaluations of the denoiser, as the tool counts: in A1111 the
    number of steps, doubled for samplers of second order, even where a redrawn picture takes fewer.
    `drawn` is that of the pass before, from which the times in prompts count on.
    Raises EngineError(REQUEST_INVALID) for a prompt that the convention's tool refuses or that is
    too long.
    """
    reading = read_prompt(prompt, convention, steps, drawn=drawn)
    other = read_prompt(negative, convention, steps, negative=True, drawn=drawn)
    layout = ClipChunks(tokenizer, convention.chunking, reader)
    tokens = plan_rows(reading, other, layout, convention)
    if reader is None:
        return tokens
    return msgspec.structs.replace(
        tokens,
        vectors=tuple(reader.vectors),
        used=dict(reader.used),
        warnings=tuple(reader.warnings.values()),
    )


def plan_rows(
    reading: PromptReading,
    negative: PromptReading | None,
    layout: TokenLayout,
    convention: Convention,
    *,
    wants_empty: bool = True,
) -> PromptTokens:
    """Lay out both prompts in rows, each distinct row once; without a negative one, the positives.

    Without `wants_empty` there is a row of the empty prompt only if weights depend on it. Raises
    EngineError(REQUEST_INVALID) for prompts that are too long.
    """
    planner = _Planner(layout, convention)
    empty = planner.empty_row() if wants_empty else None
    positives = tuple(map(planner.timeline, reading.timelines))
    opposite = planner.timeline(negative.timelines[0]) if negative else positives[0]
    if convention.length_matching is LengthMatching.REPEAT:
        _check_repeats(max(t.chunks for t in positives), opposite.chunks)
    if empty is None and _is_weighted((*positives, opposite), convention.emphasis):
        empty = planner.empty_row()
    rows, mask, inserted = planner.rows()
    return PromptTokens(
        rows,
        mask,
        tuple(timeline.weight for timeline in reading.timelines),
        reading.tags,
        positives,
        opposite,
        convention,
        empty,
        inserted,
    )


def _is_weighted(timelines: Sequence[TokenTimeline], emphasis: Emphasis) -> bool:
    """Tell whether the difference from the empty prompt's encoding is scaled anywhere."""
    scales = emphasis in {Emphasis.FROM_EMPTY, Emphasis.COMPEL}
    mixtures = [mixture for timeline in timelines for text in timeline.texts for mixture in text]
    return any(mixture.weight != 1 for mixture in mixtures) or (
        scales
        and any((p.chunks.weights != 1).any() for mixture in mixtures for p in mixture.phrases)
    )


def _check_repeats(first: int, second: int) -> None:
    if math.lcm(first, second) > _MAX_REPEATED:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "Prompts of {first} and of {second} times 75 tokens are too long to go together.",
                first=first,
                second=second,
            ),
            sentence("Shorten one of the prompts."),
        )


class _Planner(msgspec.Struct):
    """Collects the distinct rows of all prompts."""

    layout: TokenLayout
    convention: Convention
    found: dict[tuple[bytes, bytes, bytes], int] = msgspec.field(
        default_factory=dict[tuple[bytes, bytes, bytes], int]
    )
    chunks: int = 0

    def empty_row(self) -> int:
        """Return the row of the empty prompt."""
        whole = np.ones((1, self.layout.length), np.bool_)
        return self._rows(self.layout.empty(), whole)[0]

    def timeline(self, timeline: WeightedTimeline) -> TokenTimeline:
        """Collect the rows of a prompt's texts, and return the prompt's timeline."""
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

    def rows(self) -> tuple[TokenIds, AttentionMask | None, Insertions | None]:
        """Return all rows int64 [n, length], their attention mask, bool, and their insertions.

        The attention mask is None if all of it is True, the insertions if there are none.
        """
        ids, masks, places = (b"".join(some) for some in zip(*self.found, strict=True))
        seen = np.frombuffer(masks, np.bool_)
        rows = np.frombuffer(ids, np.int64).reshape(-1, self.layout.length).copy()
        inserted = np.frombuffer(places, np.int32).reshape(rows.shape)
        return (
            rows,
            None if seen.all() else seen.reshape(rows.shape),
            inserted if (inserted != NO_VECTOR).any() else None,
        )

    def _chunks(self, phrases: Sequence[tuple[PromptPart, ...]]) -> list[TokenChunks]:
        """Tokenize phrases that are mixed, extended to equally many chunks."""
        laid_out = [self.layout.laid_out(parts) for parts in phrases]
        self.chunks += sum(chunks.count for chunks in laid_out)
        if self.chunks > _MAX_CHUNKS_READ:
            raise _too_many_rows()
        return self._extended(laid_out, max(chunks.count for chunks in laid_out))

    def _extended(self, phrases: Sequence[TokenChunks], count: int) -> list[TokenChunks]:
        return [extended(chunks, self.layout.empty, count) for chunks in phrases]

    def _text(
        self, passage: Passage, laid_out: Sequence[Sequence[TokenChunks]], total: int
    ) -> tuple[TokenMixture, ...]:
        """Return a passage as mixtures, the last one extended to `total` chunks altogether."""
        missing = total - sum(phrases[0].count for phrases in laid_out)
        if total > MAX_CHUNKS:
            tokens = f"{total * CHUNK_TOKENS:,}"
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence(
                    "The prompt takes the room of {tokens} tokens, which is too many.",
                    tokens=tokens,
                ),
                sentence("Shorten the prompt."),
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
        rows, *variants = (self._rows(chunks, mask) for mask in (whole, *masks))
        return TokenPhrase(chunks, rows, tuple(variants), (1.0, *shares))

    def _rows(self, chunks: TokenChunks, seen: AttentionMask) -> tuple[int, ...]:
        vectors = chunks.vectors
        if vectors is None:
            vectors = np.full(chunks.ids.shape, NO_VECTOR, np.int32)
        return tuple(map(self._row, chunks.ids, seen, vectors))

    def _row(self, ids: TokenIds, seen: AttentionMask, vectors: Insertions) -> int:
        key = ids.tobytes(), seen.tobytes(), vectors.tobytes()
        index = self.found.setdefault(key, len(self.found))
        if index >= _MAX_ROWS:
            raise _too_many_rows()
        return index


def _too_many_rows() -> EngineError:
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence(
            "The prompt comes to more than {max_rows:,} pieces to encode.", max_rows=_MAX_ROWS
        ),
        sentence("Shorten the prompt, or let it change less often."),
    )
