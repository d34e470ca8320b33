"""What dynamicprompts would draw from and we take for words: wildcards of another grammar.

After the syntax page of dynamicprompts: `{2$$a|b}` takes several parts, `{~a|b}` says how they are
drawn, `__colors*__` and `__~colors__` name several lists or say how, `${x=a}` is a variable.
"""

import re
from collections.abc import Iterator
from itertools import islice

# Bounded everywhere, so that it takes linear time.
_NAME = r"[\w\-./ ]{0,100}"
_FOREIGN = re.compile(
    r"(?<!\\)\{[\d\s-]{0,20}\$\$"  # how many parts
    r"|(?<!\\)\{[~@!](?=[^{}]{0,400}\|)"  # how they are drawn
    rf"|(?<!\\)__[~@!]?{_NAME}[*?]{_NAME}__"  # several lists
    rf"|(?<!\\)__[~@!]{_NAME}__"
    r"|\$\{\w{1,100}(?:[=:}]|\s{0,10}!?=)"  # a variable
)
MOST = 20


def foreign_marks(text: str) -> Iterator[tuple[int, str]]:
    """Where such signs begin, counted from 0, and what they are; at most 20."""
    return islice(((found.start(), found[0]) for found in _FOREIGN.finditer(text)), MOST)
