"""Prompts: the tools' grammars, CLIP's tokenizer, chunks of 75 tokens. Public to the app.

`wildcards` replaces wildcards by words drawn with a seed. `reading` then parses a prompt by a
convention's grammar: `tags` (comments, names of networks), `lora_tags` (which LoRAs, and how
strongly), `composition` (`AND`) and `timeline` (`[a:b:8]`, `[a|b]`) are AUTOMATIC1111's; `a1111`,
`comfy` and `compel` parse the weights of words.
`tokenizers` and `chunks` turn the texts into token ids; `counting` and `hints` check a prompt while
it is being written. `engine.families.shared.prompts.conditioning` applies weights to embeddings.
"""

from engine.text.a1111 import parse_attention
from engine.text.chunks import TokenChunks, tokenize_prompt
from engine.text.comfy import parse_attention_comfy
from engine.text.compel import CompelPrompt, parse_compel
from engine.text.composition import ComposedText, split_composition
from engine.text.counting import TokenCount, count_tokens
from engine.text.hints import PromptHint, bracket_hints
from engine.text.prompt import Break, Mixture, PromptPart, WeightedText
from engine.text.reading import PromptReading, read_prompt
from engine.text.tags import NetworkTag, strip_comments, strip_tags
from engine.text.timeline import TimedText, schedule_prompt
from engine.text.tokenizers import ClipTokenizer, load_clip_tokenizer, load_tokenizer
from engine.text.wildcards import expand_wildcards

__all__ = [
    "Break",
    "ClipTokenizer",
    "CompelPrompt",
    "ComposedText",
    "Mixture",
    "NetworkTag",
    "PromptHint",
    "PromptPart",
    "PromptReading",
    "TimedText",
    "TokenChunks",
    "TokenCount",
    "WeightedText",
    "bracket_hints",
    "count_tokens",
    "expand_wildcards",
    "load_clip_tokenizer",
    "load_tokenizer",
    "parse_attention",
    "parse_attention_comfy",
    "parse_compel",
    "read_prompt",
    "schedule_prompt",
    "split_composition",
    "strip_comments",
    "strip_tags",
    "tokenize_prompt",
]
