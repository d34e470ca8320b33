"""Rules by which tools read the same prompt, and bring it into a text encoder.

Grammars are in `engine.text`, emphasis and chunks in `engine.families.shared.prompts`.
"""

from enum import StrEnum


class PromptGrammar(StrEnum):
    """The grammar of a prompt: the brackets that set weights, and the effect of nested weights."""

    A1111 = "a1111"  # (x) [x] (x:1.3), nested weights multiply; [a:b:8], [a|b], AND, BREAK
    COMFY = "comfy"  # (x) (x:1.3), an inner weight replaces the outer one
    COMPEL = "compel"  # word++, (a b)1.3, .and(), .blend()
    LITERAL = "literal"  # every character is text


class PromptFeature(StrEnum):
    """A part of A1111's grammar other than its brackets; a convention may leave it out."""

    COMMENTS = "comments"  # from # to the end of the line
    NETWORKS = "networks"  # <lora:name:1>
    CHANGES = "changes"  # [a:b:8], [a|b]
    COMPOSITION = "composition"  # AND
    BREAKS = "breaks"  # BREAK


class NetworkTags(StrEnum):
    """The meaning of `<lora:name:0.8>` and other tags of networks in a prompt.

    A1111's grammar reads tags only with `PromptFeature.NETWORKS`; compel's has a form of its own.
    """

    TEXT = "text"  # they are text
    WHOLE_RUN = "whole_run"  # each acts from the first step to the last, wherever it stands
    TIMED = "timed"  # a tag within [a:b:8] or [a|b] acts while its part of the prompt is used
    # As WHOLE_RUN, but of two strengths the first is the denoiser's: SwarmUI, nodes of ComfyUI.
    DENOISER_FIRST = "denoiser_first"


class EmbeddingSpelling(StrEnum):
    """A way in which a prompt names an embedding (textual inversion)."""

    BARE = "bare"  # its name anywhere in the text, compared by tokens: A1111
    PREFIX = "prefix"  # embedding:name at the beginning of a word: ComfyUI
    TAG = "tag"  # <embed:name>: SwarmUI
    WORD = "word"  # the word in its file, as <cat-toy>; <cat-toy>_1 is its second vector: diffusers
    ANGLED = "angled"  # <name>: InvokeAI


class TextCleaning(StrEnum):
    """The clean-up of a text's characters before CLIP's tokenizer splits it into words."""

    NONE = "none"  # only CLIP's own rules, as in transformers' fast tokenizer
    FTFY = "ftfy"  # ftfy's repairs, e.g. of curly quotes; for OpenCLIP's encoders also HTML's
    BASIC = "basic"  # each Chinese character is a word, as in transformers 4 without ftfy


class Emphasis(StrEnum):
    """The effect of token weights on the text encoder's output."""

    ORIGINAL = "original"  # multiply the output by the weight, then restore the mean
    NO_NORM = "no_norm"  # multiply the output by the weight
    FROM_EMPTY = "from_empty"  # scale the difference from the empty prompt's output
    COMPEL = "compel"  # above 1 like from_empty, below 1 towards the prompt without the words
    NONE = "none"  # weights are parsed and have no effect
    LITERAL = "literal"  # weights are not parsed, their brackets are text: A1111's "None"


class Chunking(StrEnum):
    """The division of a prompt into chunks of CLIP's 75 positions."""

    COMMA = "comma"  # several chunks, each split after a comma in its last 20 tokens
    WORD = "word"  # several chunks; a weighted piece of fewer than 8 tokens is not split
    PLAIN = "plain"  # several chunks, split anywhere
    SENTENCE = "sentence"  # several chunks, split after a period, else a comma, else a word
    CUT = "cut"  # one chunk, padded by the checkpoint's tokenizer; the rest is dropped


class LengthMatching(StrEnum):
    """The padding of prompts that have unequal numbers of chunks to one batch."""

    EMPTY_CHUNKS = "empty_chunks"  # chunks of the empty prompt follow the shorter prompt
    REPEAT = "repeat"  # each prompt is repeated to the least common multiple of the lengths
    REPEAT_LAST = "repeat_last"  # the last token's vector of the shorter prompt is repeated
