"""Texts for T5's tokenizer: by hand, and drawn from all of Unicode."""

import random

from tests.text.token_cases import TEXTS as CLEANED

BY_HAND = (
    *CLEANED,
    " ",
    "  two  spaces  ",
    "ends in a space ",
    "\n",
    "a </s> b <pad> c <unk> d <extra_id_0><extra_id_99> e <extra_id_100>",
    "\u2581lower block \u2581",
    "donaudampfschifffahrtsgesellschaft " * 3 + "x" * 300 + "\u0301" * 50,
    "Ein M\u00e4dchen \u00fcber den Stra\u00dfen; une \u00e9toile l\u2019\u00e9t\u00e9; "
    "\u021bar\u0103",
    "1,234.56 \u00b2 \u0663 \u2167 \u2460 \uff11\uff12 3\u20444 \u338f",
    "\ufb01 \ufb03 \u00aa \u1e9b\u0323 \u212b \u2126 \uff76\uff9e \uac00 \u1100\u1161\u11a8",
    "((masterpiece:1.2)), [low] <lora:foo:0.8> {a|b} \\(escaped\\) `code` ~tilde~ _under_",
    "\ufeff\u200b\u200d\u202eabc\u202c\ufffd \U000e0001 \x00 \x7f \x80 \x9f \u00ad",
)
_RANGES = (
    (0x00, 0x7F),
    (0x80, 0x24F),
    (0x300, 0x36F),
    (0x370, 0xFFF),
    (0x1000, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x10000, 0x1FFFF),
)
_WORDS = ("a", "Cat's", "photograph", "of", "the", "mountains,", "in", "Kunst", "d'une", "8k", ".")


def drawn_texts(count: int = 1000) -> list[str]:
    """Texts of words, white space and characters from all over Unicode; the same each time."""
    generator = random.Random(20261124)
    return [_drawn(generator) for _ in range(count)]


def _drawn(generator: random.Random) -> str:
    pieces: list[str] = []
    for _ in range(generator.randrange(1, 30)):
        low, high = generator.choice(_RANGES)
        odd = chr(generator.randrange(low, high + 1))
        space = generator.choice((" ", "  ", "\t", "\n", "\u3000"))
        pieces.append(generator.choice((odd, odd, f" {generator.choice(_WORDS)} ", space)))
    return "".join(pieces)


def drawn_prompts(count: int = 1000) -> list[str]:
    """Prompts with weights, escapes and BREAKs, some of more than 256 tokens."""
    generator = random.Random(20261125)
    return [_prompt(generator) for _ in range(count)]


def _prompt(generator: random.Random) -> str:
    found: list[str] = []
    for _ in range(generator.randrange(1, 9)):
        words = _drawn(generator).replace("\x00", "") * generator.choice((1, 1, 1, 6))
        weight = generator.choice(("", ":1.3", ":0.55", ":2"))
        found.append(generator.choice((words, words, f"({words}{weight})", f"(({words}))", "\\(")))
        if generator.random() < 0.05:
            found.append(" BREAK ")
    return "".join(found)
