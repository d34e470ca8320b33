r"""Whole prompts as a person's question to a language model, in one row of tokens each.

ComfyUI (`comfy/text_encoders/z_image.py`, `flux.py`) and diffusers (the pipelines, by the
tokenizer's template) write the same words around a prompt for Z-Image, and for FLUX.2 klein. Every
character of it is text: no tool reads weights there, but in ComfyUI `\(` is a bracket as elsewhere.
diffusers and InvokeAI cut at 512 positions.
"""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from engine.api.conventions import Convention
from engine.api.prompt_rules import Emphasis, PromptGrammar
from engine.api.values import ConventionName
from engine.text.chunks import NO_PART, TokenChunks
from engine.text.comfy import without_escapes
from engine.text.prompt import PromptPart, WeightedText
from engine.text.qwen_tokenizer import QwenTokenizer, load_qwen_tokenizer
from engine.text.reading import PromptReading
from engine.text.whole_rows import MAX_POSITIONS, cuts_rows, phrases_of, too_long, whole_texts

# The words before a prompt, and those behind it with which an answer begins (Qwen3's template).
BEFORE = "<|im_start|>user\n"
_ANSWER = "<|im_end|>\n<|im_start|>assistant\n"
# Positions at which diffusers and InvokeAI cut.
CUT_POSITIONS = 512
# Rows whose padding nothing reads have a multiple of so many positions: fewer shapes are compiled.
MULTIPLE = 64


class ChatTemplate(msgspec.Struct, frozen=True):
    """The words behind a prompt, and the fewest positions of a row.

    Rows that may be longer have a `multiple` of so many positions.
    """

    after: str
    least: int
    multiple: int


THINKING = ChatTemplate(_ANSWER, 0, MULTIPLE)
# An answer that has no thoughts before it; padding is read, too, so there is no more than needed.
WITHOUT_THOUGHTS = ChatTemplate(f"{_ANSWER}<think>\n\n</think>\n\n", CUT_POSITIONS, 1)


class ChatRows(msgspec.Struct, frozen=True):
    """A `TokenLayout` of one row for each prompt: its tokens, then padding.

    Every row has `length` positions; a longer prompt is cut if `cuts`, else refused. `unescapes` is
    that of `chat_text`.
    """

    tokenizer: QwenTokenizer
    template: ChatTemplate
    length: int
    cuts: bool
    unescapes: bool

    def laid_out(self, parts: Sequence[PromptPart]) -> TokenChunks:
        """Return a prompt as one row. Raises EngineError(REQUEST_INVALID) if it is too long."""
        found = chat_tokens(self.tokenizer, parts, self.template, unescapes=self.unescapes)
        if len(found) > self.length and not self.cuts:
            raise too_long(len(found))
        return self._rows(found, 1)

    def empty(self, count: int = 1) -> TokenChunks:
        """Return `count` rows of the empty prompt."""
        return self._rows(chat_tokens(self.tokenizer, (), self.template), count)

    def _rows(self, tokens: Sequence[int], count: int) -> TokenChunks:
        shape, end = (count, self.length), min(len(tokens), self.length)
        ids = np.full(shape, self.tokenizer.pad_id, np.int64)
        ids[:, :end] = tokens[:end]
        parts = np.full(shape, NO_PART, np.int32)
        return TokenChunks(ids, np.ones(shape, np.float32), parts, len(tokens))


def chat_tokens(
    tokenizer: QwenTokenizer,
    parts: Sequence[PromptPart],
    template: ChatTemplate,
    *,
    unescapes: bool = False,
) -> list[int]:
    """Return a prompt's tokens with those of the words around it.

    Far beyond the most positions they may be wrong. `unescapes` is that of `chat_text`.
    """
    text = chat_text(parts, unescapes=unescapes)
    return tokenizer.encode_up_to(f"{BEFORE}{text}{template.after}", MAX_POSITIONS)


def chat_text(parts: Sequence[PromptPart], *, unescapes: bool = False) -> str:
    """Return the text of a prompt; its escaped brackets stand for themselves if it `unescapes`."""
    text = "".join(part.text for part in parts if isinstance(part, WeightedText))
    return without_escapes(text) if unescapes else text


def unescapes_brackets(convention: Convention) -> bool:
    """Tell whether a convention's tool reads escapes of brackets in chats, as ComfyUI does."""
    return convention.name is ConventionName.COMFY


def chat_convention(convention: Convention) -> Convention:
    """Return a convention as its tool has it for chats: all but tags is text, without vectors."""
    return msgspec.structs.replace(
        whole_texts(convention),
        grammar=PromptGrammar.LITERAL,
        emphasis=Emphasis.NONE,
        embedding_spellings=(),
    )


def chat_rows_for(
    readings: Iterable[PromptReading], convention: Convention, template: ChatTemplate
) -> ChatRows:
    """Return a layout in which all of these prompts have a row of one length."""
    tokenizer, cuts = load_qwen_tokenizer(), cuts_rows(convention)
    unescapes = unescapes_brackets(convention)
    phrases = {phrase for reading in readings for phrase in phrases_of(reading)}
    longest = max(
        len(chat_tokens(tokenizer, phrase, template, unescapes=unescapes)) for phrase in phrases
    )
    length = max(longest + -longest % template.multiple, template.least)
    most = CUT_POSITIONS if cuts else MAX_POSITIONS
    return ChatRows(tokenizer, template, min(length, most), cuts, unescapes)
