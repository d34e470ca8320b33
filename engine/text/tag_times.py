"""The times at which tags within `[from:to:when]` and `[a|b]` are part of a prompt.

AUTOMATIC1111 removes the tags before it reads the brackets, so that they act throughout. This is
another meaning, which `NetworkTags.TIMED` asks for.
"""

import re
from collections.abc import Mapping, Sequence

from engine.text.composition import split_composition
from engine.text.lora_strengths import RunLength
from engine.text.timeline import schedule_prompt

# Noncharacters, which Unicode reserves for internal use, stand for tags while brackets are read.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


def evaluations_of_tags(
    text: str, starts: Sequence[int], run: RunLength
) -> Mapping[int, frozenset[int]]:
    """Return the evaluations of the run at which each tag is in the text, by the tag's start.

    Tags that always are, are left out. Raises EngineError(REQUEST_INVALID) as `schedule_prompt`.
    """
    marked = _marked(text, starts)
    used: dict[int, set[int]] = {start: set() for start in starts}
    # Where a tag stands beside brackets, its part of the prompt is in use throughout.
    for part in split_composition(marked):
        begin = 0
        for timed in schedule_prompt(part.text, run.asked_evaluations):
            for found in _MARK.finditer(timed.text):
                used[int(found[1])].update(range(begin, min(timed.until, run.evaluations)))
            begin = timed.until
    every = set(range(run.evaluations))
    return {start: frozenset(own) for start, own in used.items() if own != every}


def _marked(text: str, starts: Sequence[int]) -> str:
    """Return the text with a mark in place of each tag."""
    kept: list[str] = []
    position = 0
    for start in starts:
        kept += [_plain(text[position:start]), f"{_OPEN}{start}{_CLOSE}"]
        position = text.index(">", start) + 1
    return "".join([*kept, _plain(text[position:])])


def _plain(text: str) -> str:
    return text.replace(_OPEN, "").replace(_CLOSE, "")
