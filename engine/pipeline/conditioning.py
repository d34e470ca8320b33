"""From prompts to what the denoiser attends to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Chunking, Convention, Emphasis, PromptGrammar
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.a1111 import parse_attention
from engine.text.chunks import TokenChunks, match_chunk_counts, tokenize_prompt
from engine.text.comfy import parse_attention_comfy
from engine.text.prompt import PromptPart, WeightedText
from engine.text.tokenizers import ClipTokenizer

# Beyond this the attention to the text outgrows the picture's own.
_MAX_CHUNKS = 64

# Token ids int64 [chunks, 77] to the text encoder's output, float32 [chunks, 77, width].
EncodeTokens = Callable[[NDArray[np.int64]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Conditioning:
    """What each half of guidance attends to: float32 [1, tokens, width], equally many tokens."""

    positive: NDArray[np.float32]
    negative: NDArray[np.float32]


def tokenize(
    prompt: str, negative: str, tokenizer: ClipTokenizer, convention: Convention
) -> tuple[TokenChunks, TokenChunks]:
    """Both prompts as chunks, equally many. Raises EngineError(REQUEST_INVALID) if too many."""
    first, second = (_tokenize_one(text, tokenizer, convention) for text in (prompt, negative))
    return match_chunk_counts(tokenizer, first, second)


def encode(
    positive: TokenChunks,
    negative: TokenChunks,
    tokenizer: ClipTokenizer,
    convention: Convention,
    encode_tokens: EncodeTokens,
) -> Conditioning:
    """Encode both prompts in one batch and apply their weights."""
    count = positive.count
    empty = tokenize_prompt(tokenizer, (WeightedText("", 1.0),)).ids
    encoded = encode_tokens(np.concatenate([positive.ids, negative.ids, empty]))
    baseline = encoded[-1:]

    def weigh(output: NDArray[np.float32], chunks: TokenChunks) -> NDArray[np.float32]:
        weighed = _emphasised(output, chunks.weights, baseline, convention.emphasis)
        return weighed.reshape(1, -1, output.shape[-1])

    return Conditioning(
        weigh(encoded[:count], positive), weigh(encoded[count : 2 * count], negative)
    )


def _parse(text: str, grammar: PromptGrammar) -> tuple[PromptPart, ...]:
    match grammar:
        case PromptGrammar.A1111:
            return parse_attention(text)
        case PromptGrammar.COMFY:
            return parse_attention_comfy(text)
        case PromptGrammar.COMPEL | PromptGrammar.LITERAL:
            return (WeightedText(text, 1.0),)


def _tokenize_one(text: str, tokenizer: ClipTokenizer, convention: Convention) -> TokenChunks:
    chunks = tokenize_prompt(tokenizer, _parse(text, convention.grammar))
    if convention.chunking is Chunking.CUT:
        return TokenChunks(chunks.ids[:1], chunks.weights[:1], min(chunks.used, 75))
    if chunks.count > _MAX_CHUNKS:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"The prompt has {chunks.used:,} tokens; at most {_MAX_CHUNKS * 75:,} can be used.",
            "Shorten the prompt.",
        )
    return chunks


def _emphasised(
    output: NDArray[np.float32],
    weights: NDArray[np.float32],
    baseline: NDArray[np.float32],
    emphasis: Emphasis,
) -> NDArray[np.float32]:
    """Apply token weights [chunks, 77] to an output [chunks, 77, width]."""
    if emphasis is Emphasis.NONE or np.all(weights == 1):
        return output
    per_token = weights[..., np.newaxis]
    if emphasis is Emphasis.FROM_EMPTY:
        # comfy/sd1_clip.py ClipTokenWeightEncoder
        return (baseline + (output - baseline) * per_token).astype(np.float32, copy=False)
    # sd_emphasis.py EmphasisOriginal, which sees one chunk at a time.
    scaled = output * per_token
    restored = output.mean(axis=(1, 2), keepdims=True) / scaled.mean(axis=(1, 2), keepdims=True)
    return (scaled * restored).astype(np.float32, copy=False)
