"""Counting of a prompt that is a question to a language model, while it is being written."""

from engine.api.prompts import PromptQuestion
from engine.text.chat_rows import (
    BEFORE,
    CUT_POSITIONS,
    ChatTemplate,
    chat_convention,
    chat_text,
    chat_tokens,
    unescapes_brackets,
)
from engine.text.counting import COUNTED_CHARACTERS, TokenCount
from engine.text.qwen_tokenizer import load_qwen_tokenizer
from engine.text.reading import read_prompt
from engine.text.whole_rows import MAX_POSITIONS, cuts_rows, phrases_of


def count_chat_tokens(text: str, question: PromptQuestion, template: ChatTemplate) -> TokenCount:
    """Count the tokens of a prompt without those of the words around it. Takes any text."""
    convention = chat_convention(question.convention)
    beginning = text[:COUNTED_CHARACTERS]
    tokenizer = load_qwen_tokenizer()
    reading = read_prompt(beginning, convention, question.steps, negative=question.negative)
    phrase = next(iter(phrases_of(reading)))
    around = len(chat_tokens(tokenizer, (), template))
    unescapes = unescapes_brackets(convention)
    used = len(chat_tokens(tokenizer, phrase, template, unescapes=unescapes)) - around
    cuts = cuts_rows(convention)
    room = (CUT_POSITIONS if cuts else MAX_POSITIONS) - around
    cut_at = None
    if cuts and used > room:
        # The words after the prompt are cut first.
        whole = BEFORE + chat_text(phrase)
        place = tokenizer.characters_of(whole, [CUT_POSITIONS])[0]
        if place is not None and place - len(BEFORE) < len(beginning):
            cut_at = max(0, place - len(BEFORE))
    return TokenCount(used, room, cut_at, len(beginning) == len(text))
