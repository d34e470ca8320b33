"""Our reading of prompts beside the tools' own, frozen by `freeze_grammars`."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.text.a1111 import parse_attention
from engine.text.comfy import parse_attention_comfy
from engine.text.composition import split_composition
from engine.text.prompt import PromptPart, WeightedText
from engine.text.tags import strip_comments, strip_tags
from engine.text.timeline import schedule_prompt

FROZEN = Path(__file__).parent / "frozen"


def rows(tool: str, key: str) -> list[Any]:
    return json.loads((FROZEN / f"{tool}.json").read_text(encoding="utf-8"))[key]


def differing(answers: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
    """The cases whose answers differ: (case, ours, the tool's)."""
    assert len(answers) > 5
    return [(case, ours, theirs) for case, ours, theirs in answers if ours != theirs]


def test_prompts_that_change_are_read_as_in_a1111() -> None:
    def ours(text: str, steps: int) -> list[list[Any]]:
        return [[timed.until, timed.text] for timed in schedule_prompt(text, steps)]

    frozen = rows("a1111", "schedules")
    assert sum(len(theirs) > 1 for _, _, theirs in frozen) > 50
    assert differing([(text, ours(text, steps), theirs) for text, steps, theirs in frozen]) == []


def test_prompts_of_several_parts_are_read_as_in_a1111() -> None:
    def ours(text: str) -> list[list[Any]]:
        return [[part.text, part.weight] for part in split_composition(text)]

    frozen = rows("a1111", "compositions")
    assert differing([(text, ours(text), theirs) for text, theirs in frozen]) == []


def weighted(parts: tuple[PromptPart, ...]) -> list[list[Any]]:
    return [[p.text, p.weight] if isinstance(p, WeightedText) else ["BREAK", -1] for p in parts]


def test_attention_is_read_as_in_a1111() -> None:
    frozen = rows("a1111", "attention")
    ours = [(text, weighted(parse_attention(text)), theirs) for text, theirs in frozen]
    assert differing(ours) == []


def test_attention_is_read_as_in_comfyui() -> None:
    frozen = rows("comfy", "attention")
    ours = [
        (text, [part for part in weighted(parse_attention_comfy(text)) if part[0]], theirs)
        for text, theirs in frozen
    ]
    assert differing(ours) == []


def test_tags_are_read_as_in_a1111() -> None:
    def ours(text: str) -> tuple[str, list[list[str]]]:
        rest, tags = strip_tags(text)
        return rest, [[tag.kind, ":".join(tag.arguments)] for tag in tags]

    frozen = rows("a1111", "tags")
    answers = [(text, ours(text), (rest, tags)) for text, rest, tags in frozen]
    assert differing(answers) == []


def test_comments_are_removed_as_in_a1111() -> None:
    frozen = rows("a1111", "comments")
    assert differing([(text, strip_comments(text), theirs) for text, theirs in frozen]) == []


@pytest.mark.parametrize(
    ("text", "until_three", "then"),
    [("a [b:c:3]] d", "a b] d", "a c] d"), ("[a:3]:", ":", "a:"), ("[a:3][[[", "[[[", "a[[[")],
)
def test_a_prompt_with_two_readings_in_a1111_changes(
    text: str, until_three: str, then: str
) -> None:
    """Its parser resolves leftover brackets by the order of a set, another in each run."""
    first, second = schedule_prompt(text, 10)
    assert (first.until, first.text, second.until, second.text) == (3, until_three, 10, then)
