"""Weights of words in a prompt, changed step by step in the syntax of a prompt grammar."""

import re
from typing import NamedTuple

from engine.api.prompt_rules import PromptGrammar

STEP, FINE_STEP = 0.1, 0.05
_LEAST, _MOST = 0.0, 10.0
# The factor of a bracket without a number, and of a + or - in compel's grammar.
_BRACKET, _PLUS, _MINUS = 1.1, 1.1, 0.9
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_COLON_END = re.compile(rf"\s*:\s*({_NUMBER})\s*\)")
_COMPEL_END = re.compile(rf"\)({_NUMBER}|\++|-+)?")
_COMPEL_SIGNS = re.compile(r"\++|-+")
# The rest are the text encoders' strength and strengths by steps, which are left alone.
_LORA = re.compile(
    rf"<(?:lora|lyco|loractl):[^:<>]+(?P<tail>:(?P<number>{_NUMBER})(?![\d.]*\s*@))?"
    r"(?P<rest>:[^<>\n]*(?=>))?"
)
# Escaped signs belong to their word.
_WORD = re.compile(r"(?:\\[^\s]|[^\s,()\[\]{}|<>:\"\\])+")


class WeightEdit(NamedTuple):
    """A piece of the prompt, `start` to `end`, its replacement, and what is selected after it."""

    start: int
    end: int
    text: str
    selection: tuple[int, int]


class _Group(NamedTuple):
    """Weighted words: the range with its brackets and number, the words' range, the weight."""

    start: int
    end: int
    words: tuple[int, int]
    weight: float


def change_weight(
    text: str, start: int, end: int, step: float, grammar: PromptGrammar
) -> WeightEdit | None:
    """Return the change of the weight of a selection, or of the word at an empty one, by a step.

    A word within weighted brackets changes their weight, and so does the end of the brackets. In
    the tag of a LoRA its strength changes.
    None where there is nothing to weight, or the grammar has no weights.
    """
    if grammar is PromptGrammar.LITERAL:
        return None
    if start == end and (tag := _tag_at(text, start)) is not None:
        return _with_strength(tag, step)
    chosen = _words(text, start, end)
    if start == end and chosen is None and text[start - 1 : start] == ">":
        # A completed tag has the cursor behind it.
        tag = _tag_at(text, start - 1)
        return _with_strength(tag, step) if tag is not None else None
    groups = _groups(text, grammar)
    if start == end:
        group = _innermost(groups, start if chosen is None else chosen[0])
        if group is None and chosen is None:
            # The cursor is where the brackets were typed.
            group = next((group for group in groups if group.end == start), None)
    else:
        group = next((group for group in groups if chosen in (group.words, group[:2])), None)
    if group is None:
        if chosen is None or not _is_balanced(text[slice(*chosen)]):
            return None
        group = _Group(*chosen, chosen, 1.0)
    weight = round(min(max(group.weight + step, _LEAST), _MOST), 2)
    return _weighted(text, group, weight, grammar)


def weight_of(text: str, start: int, end: int, grammar: PromptGrammar) -> float | None:
    """Return the weight that brackets around these characters alone give them; 1 without any.

    None if the grammar has no weights.
    """
    if grammar is PromptGrammar.LITERAL:
        return None
    return _around(text, start, end, grammar).weight


def weighted_range(text: str, start: int, end: int, grammar: PromptGrammar) -> tuple[int, int]:
    """Return the range of these characters with the brackets and the number around them alone."""
    if grammar is PromptGrammar.LITERAL:
        return start, end
    return _around(text, start, end, grammar)[:2]


def set_weight(
    text: str, start: int, end: int, weight: float, grammar: PromptGrammar
) -> WeightEdit:
    """Return the change that gives these characters a weight; the grammar must have weights."""
    return _weighted(text, _around(text, start, end, grammar), weight, grammar)


def _around(text: str, start: int, end: int, grammar: PromptGrammar) -> _Group:
    groups = (group for group in _groups(text, grammar) if group.words == (start, end))
    return next(groups, _Group(start, end, (start, end), 1.0))


def _weighted(text: str, group: _Group, weight: float, grammar: PromptGrammar) -> WeightEdit:
    words = text[slice(*group.words)]
    if weight == 1:
        before, after = "", ""
    elif grammar is PromptGrammar.COMPEL:
        before, after = "(", f"){_shown(weight)}"
    else:
        before, after = "(", f":{_shown(weight)})"
    begin = group.start + len(before)
    return WeightEdit(
        group.start, group.end, f"{before}{words}{after}", (begin, begin + len(words))
    )


def _words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a selection without the white space at its ends, or the word at an empty one."""
    if start == end:
        found = (match.span() for match in _WORD.finditer(text))
        return next((span for span in found if span[0] <= start <= span[1]), None)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _groups(text: str, grammar: PromptGrammar) -> list[_Group]:
    """Return the weighted brackets of a text, inner ones first."""
    groups: list[_Group] = []
    opened: list[int] = []
    escaped = False
    for at, sign in enumerate(text):
        if escaped or sign == "\\":
            escaped = not escaped
        elif sign == "(":
            opened.append(at)
        elif sign == ")" and opened:
            groups.append(_group(text, opened.pop(), at, grammar))
    if grammar is PromptGrammar.COMPEL:
        groups += _signed_words(text)
    return groups


def _group(text: str, start: int, closing: int, grammar: PromptGrammar) -> _Group:
    """Return the brackets from `start` to `closing` with their weight."""
    if grammar is PromptGrammar.COMPEL:
        match = _COMPEL_END.match(text, closing)
        sign = match[1] if match and match[1] else ""
        weight = _of_signs(sign) if sign[:1] in "+-" else float(sign)
        return _Group(start, closing + 1 + len(sign), (start + 1, closing), weight)
    colon = text.rfind(":", start, closing)
    match = _COLON_END.match(text, colon) if colon > start else None
    if match is None or match.end() != closing + 1:
        return _Group(start, closing + 1, (start + 1, closing), _BRACKET)
    return _Group(start, closing + 1, (start + 1, colon), float(match[1]))


def _signed_words(text: str) -> list[_Group]:
    """Return the words followed by plus or minus signs, which weight them in compel's grammar."""
    found: list[_Group] = []
    for word in _WORD.finditer(text):
        signs = _COMPEL_SIGNS.search(word[0].rstrip(".;"))
        if signs is not None and signs.end() == len(word[0]) and signs.start():
            words = word.start(), word.start() + signs.start()
            found.append(_Group(*word.span(), words, _of_signs(signs[0])))
    return found


def _of_signs(signs: str) -> float:
    factor = _PLUS if signs.startswith("+") else _MINUS
    return float(factor ** len(signs))


def _innermost(groups: list[_Group], place: int) -> _Group | None:
    around = [group for group in groups if group.start <= place < group.end]
    return min(around, key=lambda group: group.end - group.start, default=None)


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _tag_at(text: str, place: int) -> re.Match[str] | None:
    return next((tag for tag in _LORA.finditer(text) if tag.start() < place <= tag.end()), None)


def _with_strength(tag: re.Match[str], step: float) -> WeightEdit | None:
    """Return the change of a LoRA's strength; None where it depends on the steps."""
    if tag["tail"] is None and tag["rest"] is not None:
        return None
    strength = round(float(tag["number"] or 1) + step, 2)
    start, behind = tag.span("tail") if tag["tail"] is not None else (tag.end(), tag.end())
    shown = f":{_shown(strength)}"
    end = start + len(shown)
    return WeightEdit(start, behind, shown, (end, end))


def _shown(weight: float) -> str:
    return f"{weight:.2f}".rstrip("0").rstrip(".")
