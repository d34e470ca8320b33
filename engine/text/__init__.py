"""Prompts: the attention grammars, CLIP's tokenizer, chunks of 75 tokens. Public to the app.

`prompt` splits a text into weighted parts, `tokenizers` turns texts into ids, `chunks` lays ids and
weights out as CLIP reads them. What the weights do to embeddings is in
`engine.pipeline.conditioning`.
"""

from engine.text.chunks import TokenChunks, match_chunk_counts, tokenize_prompt
from engine.text.prompt import (
    Break,
    PromptPart,
    WeightedText,
    parse_attention,
    parse_attention_comfy,
)
from engine.text.tokenizers import ClipTokenizer, load_clip_tokenizer, load_tokenizer

__all__ = [
    "Break",
    "ClipTokenizer",
    "PromptPart",
    "TokenChunks",
    "WeightedText",
    "load_clip_tokenizer",
    "load_tokenizer",
    "match_chunk_counts",
    "parse_attention",
    "parse_attention_comfy",
    "tokenize_prompt",
]
