"""The parts AUTOMATIC1111 removes before it parses a prompt: comments, and tags of networks.

A tag such as `<lora:name:0.8>` names a network; `modules/extra_networks.py` (`parse_prompt`)
removes tags of any kind from the positive prompt. A comment extends from `#` to the end of the line
(`modules/processing_scripts/comments.py`).
"""

import re
from collections.abc import Iterator

import msgspec

from engine.api.conventions import Convention
from engine.api.prompt_rules import NetworkTags, PromptFeature, PromptGrammar

_KIND = re.compile(r"<(\w+):")
_COMMENT_LINE = re.compile(r"(?:^|\n)#[^\n]*(?:\n|$)")
_COMMENT = re.compile(r"#[^\n]*(?:\n|$)")


class NetworkTag(msgspec.Struct, frozen=True):
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

    def _plain(self) -> list[str]:
        return [argument for argument in self.arguments if _named(argument) is None]


def _named(argument: str) -> tuple[str, str] | None:
    parts = argument.split("=", 2)
    return (parts[0], parts[1]) if len(parts) == 2 else None


class NamedNetworks(msgspec.Struct, frozen=True):
    """A positive prompt without comments, its tags in order, and the same text without tags.

    The places of the tags are those in `text`.
    """

    text: str
    tags: tuple[NetworkTag, ...]
    stripped: str


def reads_tags(convention: Convention) -> bool:
    """True if tags such as `<lora:name:1>` in a positive prompt name networks."""
    if convention.network_tags is NetworkTags.TEXT:
        return False
    match convention.grammar:
        case PromptGrammar.A1111:
            return PromptFeature.NETWORKS in convention.prompt_features
        case PromptGrammar.COMPEL:
            return False
        case PromptGrammar.COMFY | PromptGrammar.LITERAL:
            return True


def named_networks(text: str, convention: Convention, *, negative: bool = False) -> NamedNetworks:
    """Return a prompt's text and the tags in it, by a convention; negative prompts have none."""
    features = convention.prompt_features
    if convention.grammar is PromptGrammar.A1111 and PromptFeature.COMMENTS in features:
        text = strip_comments(text)
    if negative or not reads_tags(convention):
        return NamedNetworks(text, (), text)
    stripped, tags = strip_tags(text)
    return NamedNetworks(text, tags, stripped)


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
