"""Facts about a LoRA for people: names, base model, trigger words, hashes.

They come from the metadata in the file and from the cards next to it (`checkpoints.sidecars`), and
are as untrusted as those.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import msgspec

from engine.checkpoints.index import TensorIndex
from engine.checkpoints.sidecars import MAX_TEXT, Card, cards_of
from engine.lora.metadata_texts import metadata_text
from engine.untrusted_json import JsonError, decode_any

MAX_TAGS = 50
_TAG_FREQUENCY = "ss_tag_frequency"
# The most characters of the training's tags that are read; large data sets have megabytes.
_LONGEST = 4_000_000
_WORD = re.compile(r"[-_\w']+")
# A1111 takes tags of this mean length for sentences and counts their words instead.
_SENTENCE, _SHORTEST_WORD = 16, 3


class LoraFacts(msgspec.Struct, frozen=True):
    """The facts that a LoRA's metadata and cards state; unknown facts are empty.

    `output_name` is the name that the trainer gave, A1111's alias of the file. `base_model` is the
    first source's name for the base model. `trigger_words` are the words that authors state.
    `weight` and `negative` are the strength and the negative prompt that the user noted. `hashes`
    are SHA-256 of the whole file, `tensors_hashes` the first 12 digits of that of its tensors:
    A1111's hash of a LoRA and Civitai's AutoV3.
    """

    title: str = ""
    output_name: str = ""
    base_model: str = ""
    trigger_words: tuple[str, ...] = ()
    weight: float | None = None
    negative: str = ""
    notes: str = ""
    description: str = ""
    hashes: frozenset[str] = frozenset()
    tensors_hashes: frozenset[str] = frozenset()


def facts_of(index: TensorIndex) -> LoraFacts:
    """Return the facts that a file's metadata and cards state; the first source of each counts."""
    cards = cards_of(index)
    output_name = index.metadata.get("ss_output_name", "")[:MAX_TEXT]
    return LoraFacts(
        title=_first(card.title for card in cards),
        output_name="".join(sign for sign in output_name if sign.isprintable()),
        base_model=_first(card.base_model for card in cards),
        trigger_words=_unique(word for card in cards for word in card.trained_words),
        weight=next((card.weight for card in cards if card.weight is not None), None),
        negative=_first(card.negative for card in cards),
        notes=_first(card.notes for card in cards),
        description=_first(card.description for card in cards),
        hashes=_union(card.hashes for card in cards),
        tensors_hashes=frozenset(digest[:12] for digest in _union(_tensors_hashes(cards))),
    )


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _union(several: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*several)


def _tensors_hashes(cards: Iterable[Card]) -> Iterator[frozenset[str]]:
    return (card.tensors_hashes for card in cards)


def tags_of(index: TensorIndex) -> tuple[str, ...]:
    """Return the most frequent tags of the training's captions (A1111 `build_tags`)."""
    counted = Counter[str]()
    for folder in _entries(_frequencies(index)).values():
        for tag, count in _entries(folder).items():
            if isinstance(count, int) and count > 0 and (name := _printable(tag)):
                counted[name] += count
    if counted and sum(map(len, counted)) >= _SENTENCE * len(counted):
        counted = _words(counted)
    return tuple(tag for tag, _ in counted.most_common(MAX_TAGS))


def _words(sentences: Counter[str]) -> Counter[str]:
    words = Counter[str]()
    for sentence, count in sentences.items():
        for word in _WORD.findall(sentence):
            if len(word) >= _SHORTEST_WORD:
                words[word] += count
    return words


def _printable(tag: str) -> str:
    return "".join(sign for sign in tag.strip()[:MAX_TEXT] if sign.isprintable())


def _frequencies(index: TensorIndex) -> object:
    text = metadata_text(index, _TAG_FREQUENCY)
    try:
        return decode_any(text[:_LONGEST]) if text else None
    except JsonError:
        return None


def _entries(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
