"""The parts AUTOMATIC1111 removes before it parses a prompt: comments, and tags of networks.

A tag such as `<lora:name:0.8>` names a network; `modules/extra_networks.py` (`parse_prompt`)
removes tags of any kind from the positive prompt. A comment extends from `#` to the end of the line
(`modules/processing_scripts/comments.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_KIND = re.compile(r"<(\w+):")
_COMMENT_LINE = re.compile(r"(?:^|\n)#[^\n]*(?:\n|$)")
_COMMENT = re.compile(r"#[^\n]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class NetworkTag:
    """A network named in a prompt.

    `kind` is "lora", "hypernet" or any other word; `arguments` follow it between colons, as
    `name=value` or plain; `start` is the tag's first character in the prompt.
    """

    kind: str
    arguments: tuple[str, ...]
    start: int = 0

    @property
    def name(self) -> str:
        """The network's name; empty if the tag has none."""
        plain = self._plain()
        return plain[0] if plain else ""

    @property
    def weights(self) -> tuple[float, float] | None:
        """The weights for the text encoder and the denoiser; None if they are not numbers.

        The first number sets both, a second one the denoiser's; `te=` and `unet=` set one each.
        Behaviour follows A1111's `extensions-builtin/Lora/extra_networks_lora.py`.
        """
        plain = self._plain()
        named = dict(pair for pair in map(_named, self.arguments) if pair is not None)
        try:
            text = float(plain[1]) if len(plain) > 1 else 1.0
            text = float(named.get("te", text))
            denoiser = float(plain[2]) if len(plain) > 2 else text
            return text, float(named.get("unet", denoiser))
        except ValueError:
            return None

    def _plain(self) -> list[str]:
        return [argument for argument in self.arguments if _named(argument) is None]


def _named(argument: str) -> tuple[str, str] | None:
    parts = argument.split("=", 2)
    return (parts[0], parts[1]) if len(parts) == 2 else None


def strip_comments(text: str) -> str:
    """Return the prompt with each comment replaced by a line break."""
    return _COMMENT.sub("\n", _COMMENT_LINE.sub("\n", text))


def strip_tags(text: str) -> tuple[str, tuple[NetworkTag, ...]]:
    """Return the prompt without its tags, and the tags in order."""
    kept: list[str] = []
    tags: list[NetworkTag] = []
    end = 0
    for tag, tag_end in _tags(text):
        tags.append(tag)
        kept.append(text[end : tag.start])
        end = tag_end
    return "".join([*kept, text[end:]]), tuple(tags)


def _tags(text: str) -> Iterator[tuple[NetworkTag, int]]:
    """Yield each tag and the position after it."""
    position = 0
    closing = text.find(">")
    while closing >= 0 and (opening := _KIND.search(text, position)):
        position = opening.end()
        if closing < position:
            closing = text.find(">", position)
        if closing > position:
            arguments = tuple(text[position:closing].split(":"))
            yield NetworkTag(opening[1], arguments, opening.start()), closing + 1
            position = closing + 1
        elif closing == position:
            # `<a:>` is not a tag, but a tag may begin inside it.
            position = opening.start() + 1
