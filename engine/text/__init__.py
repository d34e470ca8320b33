"""Prompts: the grammars of the tools, CLIP's tokenizer, chunks of 75 tokens. Public to the app.

A prompt goes through `wildcards` (which the person may want written out), `tags` (comments, names
of networks), `composition` (`AND`), `timeline` (`[a:b:8]`, `[a|b]`), then `a1111`, `comfy` or
`compel` (which words count more), `tokenizers` and `chunks`. What weights do to embeddings is in
`engine.pipeline.conditioning`.
"""

from engine.text.a1111 import parse_attention
from engine.text.chunks import TokenChunks, match_chunk_counts, tokenize_prompt
from engine.text.comfy import parse_attention_comfy
from engine.text.prompt import Break, PromptPart, WeightedText
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
