"""What AUTOMATIC1111 takes out of a prompt before it reads it: comments, and names of networks.

`<lora:name:0.8>` and the like ask for a network; `modules/extra_networks.py` (`parse_prompt`) takes
them from the positive prompt, whatever the kind. From `#` to the end of the line is a comment
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
    """A network that a prompt asks for.

    `kind` is "lora", "hypernet" or any other word; `arguments` what follows it between colons,
    `name=value` or plain; `start` the character of the prompt it began at.
    """

    kind: str
    arguments: tuple[str, ...]
    start: int = 0

    @property
    def name(self) -> str:
        """The network's name, empty where there is none."""
        plain = self._plain()
        return plain[0] if plain else ""

    @property
    def weights(self) -> tuple[float, float] | None:
        """How much it acts on the text encoder and on the denoiser; None if that is no number.

        The first number stands for both; `te=` and `unet=` name them. As A1111 reads them for
        LoRAs, in `extensions-builtin/Lora/extra_networks_lora.py`.
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
    """The prompt without its comments; each leaves a line break."""
    return _COMMENT.sub("\n", _COMMENT_LINE.sub("\n", text))


def strip_tags(text: str) -> tuple[str, tuple[NetworkTag, ...]]:
    """The prompt without its tags, and the tags in order."""
    kept: list[str] = []
    tags: list[NetworkTag] = []
    end = 0
    for tag, tag_end in _tags(text):
        tags.append(tag)
        kept.append(text[end : tag.start])
        end = tag_end
    return "".join([*kept, text[end:]]), tuple(tags)


def _tags(text: str) -> Iterator[tuple[NetworkTag, int]]:
    """Each tag and where it ends."""
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
            # `<a:>` is no tag, but a tag may begin within it.
            position = opening.start() + 1
