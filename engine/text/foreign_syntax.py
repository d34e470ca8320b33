"""Wildcard syntax of dynamicprompts that Safelight does not support and reads as plain text.

From the syntax page of dynamicprompts: `{2$$a|b}` takes several parts, `{~a|b}` sets the sampling
method, `__colors*__` names several lists, `__~colors__` a list and its sampling method, `${x=a}`
sets a variable.
"""

import re
from collections.abc import Iterator
from itertools import islice

# All repetitions are bounded, so that matching takes linear time.
_NAME = r"[\w\-./ ]{0,100}"
_FOREIGN = re.compile(
    r"(?<!\\)\{[\d\s-]{0,20}\$\$"  # the number of parts
    r"|(?<!\\)\{[~@!](?=[^{}]{0,400}\|)"  # the sampling method
    rf"|(?<!\\)__[~@!]?{_NAME}[*?]{_NAME}__"  # several lists
    rf"|(?<!\\)__[~@!]{_NAME}__"
    r"|\$\{\w{1,100}(?:[=:}]|\s{0,10}!?=)"  # a variable
)
MOST = 20


def foreign_marks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start, counted from 0, and the text of such syntax; at most 20 occurrences."""
    return islice(((found.start(), found[0]) for found in _FOREIGN.finditer(text)), MOST)
