"""Errors that point at a character of a prompt."""

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

_AROUND = 16
_MARK = "\N{BLACK RIGHT-POINTING POINTER}"
_CUT = "\N{HORIZONTAL ELLIPSIS}"


class PromptError(EngineError):
    """A REQUEST_INVALID error at `position`, a character of the prompt counted from 0."""

    def __init__(self, position: int, message: Sentence, hint: Sentence) -> None:
        super().__init__(ErrorCode.REQUEST_INVALID, message, hint)
        self.position = position


class NoListError(PromptError):
    """A prompt, or a list that it names, names a word list that does not exist: `name`."""

    def __init__(self, position: int, message: Sentence, hint: Sentence, name: str) -> None:
        super().__init__(position, message, hint)
        self.name = name


def prompt_error(text: str, position: int, problem: Sentence, hint: Sentence) -> PromptError:
    """Return an error whose message names the character, counted from 1, and quotes the place.

    `problem` is a clause such as 'there is no list called "x"'.
    """
    position = min(position, len(text))
    message = sentence(
        "At character {number} of the prompt, {problem}: {place}.",
        number=position + 1,
        problem=problem,
        place=show(text, position),
    )
    return PromptError(position, message, hint)


def show(text: str, position: int) -> str:
    """Return the text around a position on one line, in quotes, with a mark at the position.

    Characters that would break the line, change its direction or be invisible become boxes.
    """
    start, end = max(0, position - _AROUND), position + _AROUND
    before = (_CUT if start else "") + text[start:position]
    after = text[position:end] + (_CUT if end < len(text) else "")
    return f'"{_plain(before)}{_MARK}{_plain(after)}"'


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{WHITE SQUARE}" for c in text)
